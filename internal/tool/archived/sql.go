package archived

import "strings"

// duckdb reads each event of an archive once. AT is where its files are.
const duckdb = `SELECT DISTINCT ON (Item.PK.S, Item.SK.S, Item.digest.B)
       Item.type.S AS type, Item.PK.S AS pk, Item.SK.S AS sk,
       Item."at".S AS "at", Item.data.S AS data
FROM read_json('AT/dt=*/*.json.gz',
     format = 'newline_delimited', columns = {Item: 'STRUCT(
       type STRUCT(S VARCHAR), PK STRUCT(S VARCHAR), SK STRUCT(S VARCHAR),
       "at" STRUCT(S VARCHAR), data STRUCT(S VARCHAR),
       digest STRUCT(B VARCHAR))'});
`

const athena = `CREATE EXTERNAL TABLE archive (
  item struct<type:struct<s:string>, pk:struct<s:string>, sk:struct<s:string>,
              at:struct<s:string>, data:struct<s:string>,
              digest:struct<b:string>>)
PARTITIONED BY (dt string)
ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'
LOCATION 'AT/'
TBLPROPERTIES ('projection.enabled' = 'true', 'projection.dt.type' = 'date',
  'projection.dt.format' = 'yyyy-MM-dd',
  'projection.dt.range' = '2024-01-01,NOW',
  'storage.location.template' = 'AT/dt=${dt}/');

-- Athena: each event of a day once
SELECT DISTINCT item.type.s AS type, item.pk.s AS pk, item.sk.s AS sk,
       item.at.s AS at, item.data.s AS data
FROM archive WHERE dt = '2026-03-01';

-- Athena: a day in few files, for those who ask often
UNLOAD (SELECT DISTINCT item.type.s AS type, item.pk.s AS pk, item.sk.s AS sk,
               item.at.s AS at, item.data.s AS data
        FROM archive WHERE dt = '2026-03-01')
TO 's3://ANOTHER-BUCKET/2026-03-01/' WITH (format = 'PARQUET');
`

// DuckDB returns the statement with which DuckDB reads each event once from the files of an
// archive, in a bucket or in a folder.
func DuckDB(at string) string { return strings.ReplaceAll(duckdb, "AT/", at+"/") }

// SQL returns statements with which DuckDB and Athena read the files of a bucket.
func SQL(bucket string) string {
	at := "s3://" + bucket
	return "-- DuckDB: each event once\nINSTALL httpfs; LOAD httpfs;\n" + DuckDB(at) + "\n-- Athena: the files as a table\n" +
		strings.ReplaceAll(athena, "AT/", at+"/")
}
