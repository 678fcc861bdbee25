package firn.interop;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/**
 * Seeded rows for the tables of the matrix. Fields 1 to 4 are the key columns that partitions come from, whatever they
 * are called by now: a unique whole number, a category (one with awkward characters, or null), a name with one of two
 * prefixes, a moment in one of two hours, one of them before 1970. All other columns hold {@link Values}.
 */
public final class TableRows {
  private static final LocalDateTime OLD = LocalDateTime.of(1969, 12, 31, 23, 10);
  private static final LocalDateTime NEW = LocalDateTime.of(2024, 2, 29, 12, 30);

  private TableRows() {}

  /** Rows whose keys count up from firstId; each is an Object[] in the schema's column order. */
  public static List<Object[]> generate(Schema schema, int count, long firstId, long seed) {
    Random random = new Random(seed);
    List<Object[]> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Object[] row = Values.struct(schema.asStruct(), random);
      for (int column = 0; column < row.length; column++) {
        Types.NestedField field = schema.columns().get(column);
        row[column] = field.fieldId() <= 4 ? key(field, firstId + i) : row[column];
      }
      rows.add(row);
    }
    return rows;
  }

  private static Object key(Types.NestedField field, long id) {
    boolean even = id % 2 == 0;
    switch (field.fieldId()) {
      case 1:
        return field.type().typeId() == Type.TypeID.INTEGER ? (Object) (int) id : (Object) id;
      case 2:
        return even ? "s\u00f6/uth =1" : null;
      case 3:
        return (even ? "alpha-" : "beta-") + id;
      default:
        LocalDateTime moment = (even ? OLD : NEW).plusNanos(id * 1000);
        boolean zoned = ((Types.TimestampType) field.type()).shouldAdjustToUTC();
        return zoned ? (Object) moment.atOffset(ZoneOffset.UTC) : moment;
    }
  }

  /** Options of DynamoDbCatalog and S3FileIO for a request's `endpoints`. */
  public static Map<String, String> catalogOptions(com.fasterxml.jackson.databind.JsonNode endpoints) {
    return Map.of(
        "dynamodb.endpoint", endpoints.path("dynamoDbEndpoint").asText(),
        "dynamodb.table-name", endpoints.path("catalogTable").asText(),
        "s3.endpoint", endpoints.path("s3Endpoint").asText(),
        "s3.path-style-access", "true",
        "client.region", endpoints.path("region").asText(),
        "io-impl", "org.apache.iceberg.aws.s3.S3FileIO",
        "http-client.type", "urlconnection",
        "warehouse", endpoints.path("warehouse").asText());
  }
}
