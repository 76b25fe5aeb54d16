package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// maxIndexes is how many indexes a new table can have.
const maxIndexes = 20

var (
	createTable = operation("CreateTable",
		"TableName AttributeDefinitions KeySchema BillingMode GlobalSecondaryIndexes StreamSpecification")
	describeTable = operation("DescribeTable", "TableName")
	listTables    = operation("ListTables", "ExclusiveStartTableName Limit")
	deleteTable   = operation("DeleteTable", "TableName")
	updateTable   = operation("UpdateTable", "TableName StreamSpecification")
)

// CreateTable makes an on-demand table with string keys. The table is ACTIVE at once.
func (c *Client) CreateTable(ctx context.Context, in *dynamodb.CreateTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput,
	error) {
	return api.Call(ctx, c.ts.core, createTable, in, c.ts.create)
}

// DescribeTable describes a table. Its item count and size are exact and current.
func (c *Client) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return api.Call(ctx, c.ts.core, describeTable, in, c.ts.describe)
}

// ListTables lists the names of the tables, up to 100 at a time.
func (c *Client) ListTables(ctx context.Context, in *dynamodb.ListTablesInput, _ ...func(*dynamodb.Options)) (*dynamodb.ListTablesOutput,
	error) {
	return api.Call(ctx, c.ts.core, listTables, in, c.ts.list)
}

// DeleteTable removes a table at once, and leaves a backup. Its stream closes and stays readable.
func (c *Client) DeleteTable(ctx context.Context, in *dynamodb.DeleteTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput,
	error) {
	return api.Call(ctx, c.ts.core, deleteTable, in, c.ts.delete)
}

// UpdateTable switches the stream of a table on or off, at once. A stream that is off stays
// readable.
func (c *Client) UpdateTable(ctx context.Context, in *dynamodb.UpdateTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateTableOutput,
	error) {
	return api.Call(ctx, c.ts.core, updateTable, in, c.ts.update)
}

func (ts *Service) create(in *dynamodb.CreateTableInput) (*dynamodb.CreateTableOutput, error) {
	name := aws.ToString(in.TableName)
	if in.BillingMode != types.BillingModePayPerRequest {
		return nil, api.Unsupported("CreateTable", "BillingMode other than PAY_PER_REQUEST")
	}
	ts.mu.Lock()
	defer ts.unlock()
	if ts.byName[name] != nil {
		return nil, &types.ResourceInUseException{Message: aws.String("Table already exists: " + name)}
	}
	t, err := ts.newTable(name, in)
	if err != nil {
		return nil, err
	}
	if err := checkStream("CreateTable", "created", in.StreamSpecification); err != nil {
		return nil, err
	}
	if s := in.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		t.stream = ts.openStream(t)
	}
	ts.byName[name] = t
	t.keepTable()
	return &dynamodb.CreateTableOutput{TableDescription: t.description(types.TableStatusActive)}, nil
}

// checkStream checks what a request says of a stream.
func checkStream(call, done string, s *types.StreamSpecification) error {
	switch {
	case s == nil:
	case !aws.ToBool(s.StreamEnabled) && s.StreamViewType != "":
		return api.Invalid("One or more parameter values were invalid: Table is being %s with a stream disabled, UpdateViewType should not "+
			"be specified", done)
	case !aws.ToBool(s.StreamEnabled):
	case s.StreamViewType == "":
		return api.Invalid("One or more parameter values were invalid: Table is being %s with a stream enabled, UpdateViewType must be "+
			"specified", done)
	case s.StreamViewType != types.StreamViewTypeNewAndOldImages:
		return api.Unsupported(call, "StreamViewType "+string(s.StreamViewType))
	}
	return nil
}

func (ts *Service) update(in *dynamodb.UpdateTableInput) (*dynamodb.UpdateTableOutput, error) {
	name, spec := aws.ToString(in.TableName), in.StreamSpecification
	if spec == nil {
		return nil, api.Invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or " +
			"SSESpecification or ReplicaUpdates is required")
	}
	if err := checkStream("UpdateTable", "updated", spec); err != nil {
		return nil, err
	}
	ts.mu.Lock()
	defer ts.unlock()
	t := ts.byName[name]
	switch on := aws.ToBool(spec.StreamEnabled); {
	case t == nil:
		return nil, tableNotFound(name)
	case on && t.stream != nil:
		return nil, api.Invalid("Table already has an enabled stream: TableName: %s", name)
	case on:
		t.stream, t.request.streamSpec = ts.openStream(t), spec
	case t.stream == nil:
		return nil, api.Invalid("Table does not have a stream to disable: TableName: %s", name)
	default:
		t.stream.disable(ts.core.Now())
		t.stream.keepImages()
		t.stream, t.request.streamSpec = nil, nil
	}
	t.keepTable()
	return &dynamodb.UpdateTableOutput{TableDescription: t.description(types.TableStatusActive)}, nil
}

func (ts *Service) newTable(name string, in *dynamodb.CreateTableInput) (*table, error) {
	t := &table{
		name: name, created: ts.core.Now(), rows: newKeyspace(true), remembers: ts.cfg.Behind != nil, log: ts.log,
		arn: "arn:aws:dynamodb:" + ts.core.Config.Region + ":" + ts.core.Config.Account + ":table/" + name,
		request: describedTable{
			keys: slices.Clone(in.KeySchema), attributes: slices.Clone(in.AttributeDefinitions), streamSpec: in.StreamSpecification,
		},
	}
	ts.made++
	r := ts.core.Source(fmt.Sprint("table ", name, t.created.UnixNano(), ts.made))
	t.id = fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r.Uint32(), r.UintN(1<<16), r.UintN(1<<12), r.UintN(1<<12), r.Uint64N(1<<48))
	used := map[string]bool{}
	var err error
	if t.schema, err = newSchema(in.KeySchema, in.AttributeDefinitions, used); err != nil {
		return nil, err
	}
	if t.schema.number {
		return nil, noKeyOf(types.ScalarAttributeTypeN)
	}
	if in.GlobalSecondaryIndexes != nil && len(in.GlobalSecondaryIndexes) == 0 {
		return nil, api.Invalid("One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty")
	}
	if len(in.GlobalSecondaryIndexes) > maxIndexes {
		return nil, api.Invalid("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of %d",
			maxIndexes)
	}
	for _, g := range in.GlobalSecondaryIndexes {
		ix, err := ts.newIndex(t, g, in.AttributeDefinitions, used)
		if err != nil {
			return nil, err
		}
		t.indexes = append(t.indexes, ix)
	}
	slices.SortFunc(t.indexes, func(a, b *index) int { return cmp.Compare(a.name, b.name) })
	if len(used) != len(in.AttributeDefinitions) {
		return nil, api.Invalid("One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match " +
			"number of attributes defined in AttributeDefinitions")
	}
	return t, nil
}

func (ts *Service) newIndex(t *table, g types.GlobalSecondaryIndex, attributes []types.AttributeDefinition, used map[string]bool) (*index,
	error) {
	if err := api.RefuseNested(ts.core, "CreateTable", g, "IndexName KeySchema Projection"); err != nil {
		return nil, err
	}
	ix := &index{name: aws.ToString(g.IndexName), rows: newKeyspace(false), keys: slices.Clone(g.KeySchema)}
	ix.arn = t.arn + "/index/" + ix.name
	if ix.name == "" || t.index(ix.name) != nil {
		return nil, api.Invalid("One or more parameter values were invalid: Duplicate index name: %s", ix.name)
	}
	var err error
	if ix.schema, err = newSchema(g.KeySchema, attributes, used); err != nil {
		return nil, err
	}
	switch {
	case g.Projection != nil && len(g.Projection.NonKeyAttributes) > 0 && g.Projection.ProjectionType != types.ProjectionTypeInclude:
		return nil, api.Invalid("One or more parameter values were invalid: ProjectionType is %s, but NonKeyAttributes is specified",
			g.Projection.ProjectionType)
	case g.Projection != nil && g.Projection.ProjectionType == types.ProjectionTypeAll:
	case g.Projection != nil && g.Projection.ProjectionType == types.ProjectionTypeKeysOnly:
		ix.only = slices.Concat(t.schema.names(), ix.schema.names())
	default:
		return nil, api.Unsupported("CreateTable", "an index projection other than ALL and KEYS_ONLY")
	}
	return ix, nil
}

// AddIndex adds an index to a table, as UpdateTable does. The index holds the items of the table at
// once. AddIndex does nothing if the table already has an index of this name.
func (ts *Service) AddIndex(tableName string, g types.GlobalSecondaryIndex, attributes []types.AttributeDefinition) error {
	ts.mu.Lock()
	defer ts.unlock()
	t := ts.byName[tableName]
	if t == nil {
		return fmt.Errorf("embedded: AddIndex: there is no table %s", tableName)
	}
	if t.index(aws.ToString(g.IndexName)) != nil {
		return nil
	}
	ix, err := ts.newIndex(t, g, attributes, map[string]bool{})
	if err != nil {
		return err
	}
	for _, a := range attributes {
		if !slices.ContainsFunc(t.request.attributes, func(d types.AttributeDefinition) bool {
			return *d.AttributeName == *a.AttributeName
		}) {
			t.request.attributes = append(t.request.attributes, a)
		}
	}
	t.indexes = append(t.indexes, ix)
	slices.SortFunc(t.indexes, func(a, b *index) int { return cmp.Compare(a.name, b.name) })
	t.keepTable()
	t.rows.scan(0, 1, nil, func(it *value.Item) bool {
		if at, is := ix.place(it); is {
			ix.rows.put(at, it)
		}
		return true
	})
	return nil
}

// newSchema reads the keys of a table or an index, and adds the names of their attributes to used.
// It accepts a number as a sort key. Only an index can have such a key.
func newSchema(keys []types.KeySchemaElement, defs []types.AttributeDefinition, used map[string]bool) (schema, error) {
	if len(keys) < 1 || len(keys) > 2 || keys[0].KeyType != types.KeyTypeHash || (len(keys) == 2 && keys[1].KeyType != types.KeyTypeRange) {
		return schema{}, api.Invalid("Invalid KeySchema: it must be one HASH key, then at most one RANGE key")
	}
	var s schema
	for i, k := range keys {
		name := aws.ToString(k.AttributeName)
		at := slices.IndexFunc(defs, func(d types.AttributeDefinition) bool { return aws.ToString(d.AttributeName) == name })
		if at < 0 {
			return schema{},
				api.Invalid("One or more parameter values were invalid: Some index key attributes are not defined in "+
					"AttributeDefinitions. Keys: [%s]", name)
		}
		switch kind := defs[at].AttributeType; {
		case kind == types.ScalarAttributeTypeS:
		case kind == types.ScalarAttributeTypeN && i == 1:
			s.number = true
		default:
			return schema{}, noKeyOf(kind)
		}
		used[name] = true
		if i == 0 {
			s.pk = name
		} else {
			s.sk = name
		}
	}
	if s.pk == s.sk {
		return schema{}, api.Invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	return s, nil
}

func noKeyOf(kind types.ScalarAttributeType) error {
	return api.Unsupported("CreateTable", "a key attribute of type "+string(kind))
}

func (ts *Service) list(in *dynamodb.ListTablesInput) (*dynamodb.ListTablesOutput, error) {
	limit, err := pageLimit(in.Limit)
	if err == nil && in.Limit != nil && *in.Limit > maxListed {
		err = api.Invalid("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value less "+
			"than or equal to %d", *in.Limit, maxListed)
	}
	if start := in.ExclusiveStartTableName; err == nil && start != nil && value.WrongTable(*start) != "" {
		err = api.Invalid("1 validation error detected: Value '%s' at 'exclusiveStartTableName' failed to satisfy constraint: %s", *start,
			value.WrongTable(*start))
	}
	if err != nil {
		return nil, err
	}
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	out := &dynamodb.ListTablesOutput{TableNames: []string{}}
	for _, name := range slices.Sorted(maps.Keys(ts.byName)) {
		if name <= aws.ToString(in.ExclusiveStartTableName) {
			continue
		}
		if len(out.TableNames) == limit {
			out.LastEvaluatedTableName = aws.String(out.TableNames[limit-1])
			break
		}
		out.TableNames = append(out.TableNames, name)
	}
	return out, nil
}

func (ts *Service) describe(in *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	t := ts.byName[aws.ToString(in.TableName)]
	if t == nil {
		return nil, tableNotFound(aws.ToString(in.TableName))
	}
	return &dynamodb.DescribeTableOutput{Table: t.description(types.TableStatusActive)}, nil
}

func (ts *Service) delete(in *dynamodb.DeleteTableInput) (*dynamodb.DeleteTableOutput, error) {
	ts.mu.Lock()
	defer ts.unlock()
	name := aws.ToString(in.TableName)
	t := ts.byName[name]
	if t == nil {
		return nil, tableNotFound(name)
	}
	delete(ts.byName, name)
	if t.stream != nil {
		t.stream.disable(ts.core.Now())
	}
	t.forget()
	ts.deleted[name] = t
	return &dynamodb.DeleteTableOutput{TableDescription: t.description(types.TableStatusDeleting)}, nil
}

func (t *table) description(status types.TableStatus) *types.TableDescription {
	d := &types.TableDescription{
		TableName: aws.String(t.name), TableArn: aws.String(t.arn), TableId: aws.String(t.id), TableStatus: status,
		KeySchema: t.request.keys, AttributeDefinitions: t.request.attributes, StreamSpecification: t.request.streamSpec,
		CreationDateTime: aws.Time(t.created), ItemCount: aws.Int64(t.items), TableSizeBytes: aws.Int64(t.bytes),
		BillingModeSummary: &types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest},
	}
	for _, ix := range t.indexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, types.GlobalSecondaryIndexDescription{
			IndexName: aws.String(ix.name), IndexArn: aws.String(ix.arn), IndexStatus: types.IndexStatusActive,
			KeySchema: ix.keys, Projection: ix.projection(),
		})
	}
	if t.stream != nil {
		d.LatestStreamArn, d.LatestStreamLabel = aws.String(t.stream.arn), aws.String(t.stream.label)
	}
	return d
}
