"""Uses ingot dev as boto3's users use AWS. Prints ok."""
import boto3
from boto3.dynamodb.conditions import Key

sqs, tables, streams, s3 = (boto3.client(n) for n in ("sqs", "dynamodb", "dynamodbstreams", "s3"))

url = sqs.create_queue(QueueName="by-hand")["QueueUrl"]
assert sqs.get_queue_url(QueueName="by-hand")["QueueUrl"] == url
sent = sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": str(i), "MessageBody": "x%d" % i} for i in range(10)])
assert len(sent["Successful"]) == 10 and not sent.get("Failed")
received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"])["Messages"]
assert sorted(m["Body"] for m in received) == ["x%d" % i for i in range(10)]
assert received[0]["Attributes"]["ApproximateReceiveCount"] == "1"
sqs.delete_message(QueueUrl=url, ReceiptHandle=received[0]["ReceiptHandle"])
assert sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]["ApproximateNumberOfMessagesNotVisible"] == "9"
try:
    sqs.get_queue_url(QueueName="none")
    raise AssertionError("a queue that does not exist has a URL")
except sqs.exceptions.QueueDoesNotExist as e:
    assert e.response["Error"]["Code"] == "AWS.SimpleQueueService.NonExistentQueue"

tables.create_table(
    TableName="by-hand", BillingMode="PAY_PER_REQUEST",
    KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("PK", "SK")],
    StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
tables.get_waiter("table_exists").wait(TableName="by-hand")
table = boto3.resource("dynamodb").Table("by-hand")
item = {"PK": "a", "SK": "1", "bytes": b"\x00\x01", "text": "é<\n", "list": [None, True, {}], "set": {"x", "y"}}
table.put_item(Item=item, ConditionExpression="attribute_not_exists(PK)")
assert table.query(KeyConditionExpression=Key("PK").eq("a"))["Items"] == [dict(item, bytes=boto3.dynamodb.types.Binary(b"\x00\x01"))]
assert table.scan()["Count"] == 1
try:
    tables.put_item(TableName="by-hand", Item={"PK": {"S": "a"}, "SK": {"S": "1"}}, ConditionExpression="attribute_not_exists(PK)", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    raise AssertionError("the condition holds")
except tables.exceptions.ConditionalCheckFailedException as e:
    assert e.response["Item"]["text"]["S"] == "é<\n"
try:
    tables.transact_write_items(TransactItems=[{"Put": {"TableName": "by-hand", "Item": {"PK": {"S": "a"}, "SK": {"S": "1"}}, "ConditionExpression": "attribute_not_exists(PK)"}}])
    raise AssertionError("the transaction is carried out")
except tables.exceptions.TransactionCanceledException as e:
    assert [r["Code"] for r in e.response["CancellationReasons"]] == ["ConditionalCheckFailed"]

arn = streams.list_streams(TableName="by-hand")["Streams"][0]["StreamArn"]
records = []
for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
    iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    records += streams.get_records(ShardIterator=iterator)["Records"]
assert [r["eventName"] for r in records] == ["INSERT"] and records[0]["dynamodb"]["NewImage"]["SK"] == {"S": "1"}
assert records[0]["dynamodb"]["ApproximateCreationDateTime"].tzinfo

s3.create_bucket(Bucket="by-hand")
s3.put_object(Bucket="by-hand", Key="2026/é&b", Body=b"payload", Metadata={"kind": "order"}, IfNoneMatch="*")
try:
    s3.put_object(Bucket="by-hand", Key="2026/é&b", Body=b"other", IfNoneMatch="*")
    raise AssertionError("an object is replaced")
except s3.exceptions.ClientError as e:
    assert e.response["Error"]["Code"] == "PreconditionFailed"
got = s3.get_object(Bucket="by-hand", Key="2026/é&b")
assert got["Body"].read() == b"payload" and got["Metadata"] == {"kind": "order"}
assert [o["Key"] for o in s3.list_objects(Bucket="by-hand")["Contents"]] == ["2026/é&b"]
assert [o["Key"] for p in s3.get_paginator("list_objects_v2").paginate(Bucket="by-hand") for o in p["Contents"]] == ["2026/é&b"]
try:
    s3.get_object(Bucket="by-hand", Key="none")
    raise AssertionError("an object that does not exist is read")
except s3.exceptions.NoSuchKey:
    pass
print("ok")
