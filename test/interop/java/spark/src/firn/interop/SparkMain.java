package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.Schema;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import scala.jdk.javaapi.CollectionConverters;

/** Spark as a tool of the interop run: SQL, appends of generated rows, canonical rows. Its catalog is `interop`. */
public final class SparkMain {
  /** Iceberg 1.9, which the older Spark runs on, has no name for these columns. */
  private static final Schema LINEAGE = new Schema(
      Types.NestedField.optional(2147483540, "_row_id", Types.LongType.get()),
      Types.NestedField.optional(2147483539, "_last_updated_sequence_number", Types.LongType.get()));
  private SparkSession spark;

  private SparkMain() {}

  public static void main(String[] args) throws IOException {
    SparkMain tool = new SparkMain();
    Tool.serve(Map.of("open", tool::open, "sql", tool::sql, "append", tool::append, "read", tool::read));
  }

  private Object open(JsonNode request) {
    String prefix = "spark.sql.catalog.interop";
    SparkSession.Builder builder = SparkSession.builder().master("local[2]").appName("interop")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.datetime.java8API.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config(prefix, "org.apache.iceberg.spark.SparkCatalog")
        .config(prefix + ".catalog-impl", "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog")
        .config(prefix + ".cache-enabled", "false");
    TableRows.catalogOptions(request.get("endpoints")).forEach((key, value) -> builder.config(prefix + "." + key, value));
    spark = builder.getOrCreate();
    spark.sql("SHOW NAMESPACES IN interop").collectAsList();
    return spark.version();
  }

  private Object sql(JsonNode request) {
    List<String> rows = new ArrayList<>();
    spark.sql(request.get("sql").asText()).collectAsList().forEach(row -> rows.add(row.toString()));
    return rows;
  }

  private Schema schema(JsonNode request) throws Exception {
    return Spark3Util.loadIcebergTable(spark, "interop." + request.get("table").asText()).schema();
  }

  /** Appends generated rows in one commit, as `files` files for each partition. */
  private Object append(JsonNode request) throws Exception {
    String table = "interop." + request.get("table").asText();
    Schema schema = schema(request);
    int count = request.get("rows").asInt();
    long firstId = request.get("firstId").asLong();
    List<Row> rows = new ArrayList<>();
    for (Object[] row : TableRows.generate(schema, count, firstId, firstId)) {
      rows.add((Row) toSpark(schema.asStruct(), row));
    }
    Dataset<Row> data = spark.createDataFrame(rows, spark.table(table).schema());
    // Blocks of two rows go round the tasks: keys alternate between partitions, so every task meets each.
    int files = request.get("files").asInt();
    Column task = functions.expr("CAST(floor((monotonically_increasing_id() % 8589934592) / 2) % " + files + " AS INT)");
    data.coalesce(1).withColumn("interop_task", task).repartitionByRange(files, functions.col("interop_task"))
        .drop("interop_task").writeTo(table).option("fanout-enabled", "true").option("distribution-mode", "none").append();
    return true;
  }

  private Object read(JsonNode request) throws Exception {
    boolean lineage = request.path("lineage").asBoolean();
    Schema schema = schema(request);
    List<Column> columns = new ArrayList<>();
    schema.columns().forEach(column -> columns.add(functions.col("`" + column.name() + "`")));
    if (lineage) {
      schema = TypeUtil.join(schema, LINEAGE);
      columns.add(functions.col("_row_id"));
      columns.add(functions.col("_last_updated_sequence_number"));
    }
    Types.StructType struct = schema.asStruct();
    List<String> rows = new ArrayList<>();
    spark.table("interop." + request.get("table").asText()).select(columns.toArray(new Column[0])).collectAsList()
        .forEach(row -> rows.add(Canonical.text(struct, fromSpark(struct, row))));
    Collections.sort(rows);
    return rows;
  }

  private static Object toSpark(Type type, Object value) {
    if (value == null) {
      return null;
    }
    switch (type.typeId()) {
      case STRUCT:
        Object[] members = ((Object[]) value).clone();
        List<Types.NestedField> fields = type.asStructType().fields();
        for (int i = 0; i < members.length; i++) {
          members[i] = toSpark(fields.get(i).type(), members[i]);
        }
        return RowFactory.create(members);
      case LIST:
        List<Object> list = new ArrayList<>();
        ((List<?>) value).forEach(element -> list.add(toSpark(type.asListType().elementType(), element)));
        return CollectionConverters.asScala(list).toSeq();
      case MAP:
        Map<Object, Object> map = new LinkedHashMap<>();
        ((Map<?, ?>) value).forEach((key, member) -> map.put(
            toSpark(type.asMapType().keyType(), key), toSpark(type.asMapType().valueType(), member)));
        return CollectionConverters.asScala(map);
      case UUID:
        return value.toString();
      case TIMESTAMP:
        return value instanceof OffsetDateTime ? ((OffsetDateTime) value).toInstant() : value;
      case BINARY:
        ByteBuffer buffer = ((ByteBuffer) value).duplicate();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
      default:
        return value;
    }
  }

  private static Object fromSpark(Type type, Object value) {
    if (value == null) {
      return null;
    }
    switch (type.typeId()) {
      case STRUCT:
        Row row = (Row) value;
        Object[] members = new Object[row.length()];
        for (int i = 0; i < members.length; i++) {
          members[i] = fromSpark(type.asStructType().fields().get(i).type(), row.get(i));
        }
        return members;
      case LIST:
        List<Object> list = new ArrayList<>();
        CollectionConverters.asJava((scala.collection.Seq<?>) value)
            .forEach(element -> list.add(fromSpark(type.asListType().elementType(), element)));
        return list;
      case MAP:
        Map<Object, Object> map = new LinkedHashMap<>();
        CollectionConverters.asJava((scala.collection.Map<?, ?>) value).forEach((key, member) -> map.put(
            fromSpark(type.asMapType().keyType(), key), fromSpark(type.asMapType().valueType(), member)));
        return map;
      case DECIMAL:
        return ((BigDecimal) value).setScale(((Types.DecimalType) type).scale());
      default:
        return value;
    }
  }
}
