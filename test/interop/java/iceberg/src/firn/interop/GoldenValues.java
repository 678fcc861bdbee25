package firn.interop;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.iceberg.LocationProviders;
import org.apache.iceberg.PartitionData;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SingleValueParser;
import org.apache.iceberg.io.LocationProvider;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.transforms.Transforms;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.BinaryUtil;
import org.apache.iceberg.util.UnicodeUtil;

/** Golden values of pure functions: single-value bytes, transforms, locations, truncated bounds. */
final class GoldenValues {
  private static final UUID ID = UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7");
  /** Microseconds around the edges of hours, days, months and years, before and after 1970. */
  private static final long[] MICROS = {
    0, 1, -1, 3_600_000_000L, -3_600_000_000L, -3_600_000_001L, 86_400_000_000L, -86_400_000_000L, -86_400_000_001L,
    1_510_871_468_000_000L, 1_582_934_400_000_000L, -2_208_988_800_000_000L, -62_135_596_800_000_000L,
    253_402_300_799_999_999L
  };

  private GoldenValues() {}

  private static Map<String, Object> members(Object... pairs) {
    Map<String, Object> members = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      members.put((String) pairs[i], pairs[i + 1]);
    }
    return members;
  }

  /** Values in Iceberg's internal form: days, micros and nanos as numbers, ByteBuffer for fixed and binary. */
  private static Map<Type, List<Object>> samples() {
    Map<Type, List<Object>> samples = new LinkedHashMap<>();
    samples.put(Types.BooleanType.get(), List.of(true, false));
    samples.put(Types.IntegerType.get(), List.of(0, 1, -1, 34, -34, 100, Integer.MAX_VALUE, Integer.MIN_VALUE));
    samples.put(Types.LongType.get(), List.of(
        0L, 1L, -1L, 34L, -34L, 9_007_199_254_740_993L, Long.MAX_VALUE, Long.MIN_VALUE));
    samples.put(Types.FloatType.get(), List.of(
        0f, -0f, 1f, -4.5f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.MIN_VALUE));
    samples.put(Types.DoubleType.get(), List.of(
        0d, -0d, 1d, -6.25d, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.MIN_VALUE));
    samples.put(Types.DecimalType.of(9, 2), decimals("14.20", "-14.20", "0.00", "9999999.99", "-9999999.99", "-1.28"));
    samples.put(Types.DecimalType.of(18, 4), decimals("0.0001", "-0.0001", "12345678901234.5678", "-1.2800"));
    samples.put(Types.DecimalType.of(38, 10), decimals(
        "9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999", "-0.0000000001",
        "0E-10", "1.2345678901"));
    samples.put(Types.DecimalType.of(38, 0), decimals(
        "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "128", "-128", "255"));
    samples.put(Types.DateType.get(), List.of(0, 1, -1, 17_486, -365, -719_162, 2_932_896, 364, 365, -366, 31, -31));
    samples.put(Types.TimeType.get(), List.of(0L, 1L, 81_068_000_000L, 86_399_999_999L));
    List<Object> micros = new ArrayList<>();
    List<Object> nanos = new ArrayList<>();
    for (long value : MICROS) {
      micros.add(value);
      if (Math.abs(value) < Long.MAX_VALUE / 1000) {
        nanos.add(value * 1000 + (value % 2 == 0 ? 0 : 1));
      }
    }
    samples.put(Types.TimestampType.withoutZone(), micros);
    samples.put(Types.TimestampType.withZone(), micros);
    samples.put(Types.TimestampNanoType.withoutZone(), nanos);
    samples.put(Types.TimestampNanoType.withZone(), nanos);
    samples.put(Types.StringType.get(), List.of(
        "", "iceberg", "a/b=c d%+&", "\u00e9t\u00e9", "\ud83d\ude00\ud83d\ude01\ud83d\ude02", "null", "line\nbreak", "\uffff"));
    samples.put(Types.UUIDType.get(), List.of(ID, new UUID(0, 0), new UUID(-1, -1)));
    samples.put(Types.FixedType.ofLength(4), List.of(bytes("00010203"), bytes("ffffffff")));
    samples.put(Types.BinaryType.get(), List.of(bytes(""), bytes("00"), bytes("00010203"), bytes("ffff00fe80")));
    return samples;
  }

  private static List<Object> decimals(String... values) {
    List<Object> decimals = new ArrayList<>();
    for (String value : values) {
      decimals.add(new BigDecimal(value));
    }
    return decimals;
  }

  private static ByteBuffer bytes(String hex) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
  }

  /** Text of an internal value: numbers plain, decimals as written, fixed and binary as hex, floats as Java prints. */
  static Object plain(Object value) {
    if (value == null || value instanceof Boolean) {
      return value;
    }
    if (value instanceof ByteBuffer) {
      return Canonical.hex(value);
    }
    return value instanceof BigDecimal ? ((BigDecimal) value).toPlainString() : value.toString();
  }

  static List<Object> singleValues() {
    List<Object> all = new ArrayList<>();
    samples().forEach((type, values) -> values.forEach(value -> all.add(members(
        "type", type.toString(),
        "value", plain(value),
        "hex", Canonical.hex(Conversions.toByteBuffer(type, value)),
        "json", json(type, value)))));
    return all;
  }

  /** The JSON form of the spec's appendix on single values; null for the floats that JSON cannot say. */
  private static String json(Type type, Object value) {
    boolean isFinite = !(value instanceof Number) || Double.isFinite(((Number) value).doubleValue());
    return isFinite ? SingleValueParser.toJson(type, value) : null;
  }

  static List<Object> transforms() {
    List<Object> all = new ArrayList<>();
    String[] texts = {
      "identity", "void", "bucket[1]", "bucket[16]", "bucket[1000]", "truncate[1]", "truncate[3]", "truncate[10]",
      "year", "month", "day", "hour"
    };
    samples().forEach((type, values) -> {
      for (String text : texts) {
        Transform<Object, Object> transform = transform(text, type);
        if (transform == null) {
          continue;
        }
        Type resultType = transform.getResultType(type);
        for (Object value : withNull(values)) {
          Object result = transform.bind(type).apply(value);
          all.add(members("type", type.toString(), "transform", text, "value", plain(value),
              "resultType", resultType.toString(), "result", plain(result),
              "human", transform.toHumanString(resultType, result), "path", path(type, text, result)));
        }
      }
    });
    return all;
  }

  private static List<Object> withNull(List<Object> values) {
    List<Object> all = new ArrayList<>(values);
    all.add(null);
    return all;
  }

  @SuppressWarnings("unchecked")
  private static Transform<Object, Object> transform(String text, Type type) {
    try {
      Transform<Object, Object> transform = (Transform<Object, Object>) Transforms.fromString(text);
      transform.bind(type);
      return transform.canTransform(type) ? transform : null;
    } catch (RuntimeException unsupported) {
      return null;
    }
  }

  private static PartitionSpec spec(Type type, String transform) {
    Schema schema = new Schema(Types.NestedField.optional(1, "col", type));
    PartitionSpec.Builder builder = PartitionSpec.builderFor(schema).withSpecId(0);
    String[] parts = transform.split("[\\[\\]]");
    switch (parts[0]) {
      case "identity": return builder.identity("col").build();
      case "void": return builder.alwaysNull("col").build();
      case "bucket": return builder.bucket("col", Integer.parseInt(parts[1])).build();
      case "truncate": return builder.truncate("col", Integer.parseInt(parts[1])).build();
      case "year": return builder.year("col").build();
      case "month": return builder.month("col").build();
      case "day": return builder.day("col").build();
      default: return builder.hour("col").build();
    }
  }

  private static String path(Type type, String transform, Object result) {
    PartitionSpec spec = spec(type, transform);
    PartitionData data = new PartitionData(spec.partitionType());
    data.set(0, result);
    return spec.partitionToPath(data);
  }

  static List<Object> locations() {
    List<Map<String, String>> propertySets = List.of(
        Map.of(),
        Map.of("write.data.path", "s3://other/data/"),
        Map.of("write.object-storage.enabled", "true"),
        Map.of("write.object-storage.enabled", "true", "write.object-storage.partitioned-paths", "false"),
        Map.of("write.object-storage.enabled", "true", "write.data.path", "s3://other/data"),
        Map.of("write.object-storage.enabled", "true", "write.object-storage.partitioned-paths", "false",
            "write.data.path", "s3://other/data"),
        Map.of("write.object-storage.enabled", "true", "write.data.path", "s3://bucket/wh/db.db/tbl/custom"),
        Map.of("write.object-storage.enabled", "false", "write.metadata.path", "s3://other/meta"));
    String[] names = {"00000-1-a.parquet", "\u00e9t\u00e9.parquet", "x", "00001-7-0f9f8e2c-00001.parquet"};
    List<Object> all = new ArrayList<>();
    for (String location : List.of("s3://bucket/wh/db.db/tbl", "s3://bucket/wh/db.db/tbl/", "s3://bucket/tbl")) {
      for (Map<String, String> properties : propertySets) {
        LocationProvider provider = LocationProviders.locationsFor(location, properties);
        for (String name : names) {
          all.add(members("tableLocation", location, "properties", properties, "partition", null, "fileName", name,
              "location", provider.newDataLocation(name)));
          all.add(partitioned(location, properties, provider, name));
        }
      }
    }
    return all;
  }

  private static Object partitioned(
      String location, Map<String, String> properties, LocationProvider provider, String name) {
    Schema schema = new Schema(
        Types.NestedField.optional(1, "a b", Types.StringType.get()),
        Types.NestedField.optional(2, "ts", Types.TimestampType.withZone()),
        Types.NestedField.optional(3, "n", Types.LongType.get()));
    PartitionSpec spec = PartitionSpec.builderFor(schema).identity("a b").hour("ts").bucket("n", 8).build();
    PartitionData data = new PartitionData(spec.partitionType());
    data.set(0, "x/y =1");
    data.set(1, -1);
    data.set(2, null);
    return members("tableLocation", location, "properties", properties, "partition", spec.partitionToPath(data),
        "fileName", name, "location", provider.newDataLocation(spec, data, name));
  }

  static Map<String, Object> truncatedBounds() {
    String[] strings = {
      "", "a", "ab", "abc", "abcd", "\u00e9t\u00e9s", "\ud83d\ude00\ud83d\ude01\ud83d\ude02", "a\ud83d\ude00b", "ab\udbff\udfff",
      "ab\udbff\udfffcd", "\udbff\udfff\udbff\udfff\udbff\udfff", "a\ud7ff\ud7ffb", "\ud7ff\ud7ff\ud7ff", "ab\uffffcd",
      "\uffff\uffff\uffff", "a\udbff\udfff\udbff\udfffz", "\u007f\u007f\u007f", "sixteen-letters!", "sixteen-letters!x"
    };
    String[] hexes = {"", "00", "ff", "ffff", "ffffff", "00ff", "00ffff", "0001ff02", "fe", "feff", "7fffff00", "fffffe00"};
    List<Object> text = new ArrayList<>();
    for (String value : strings) {
      for (int length : new int[] {1, 2, 3, 16}) {
        text.add(members("value", value, "length", length, "lower", UnicodeUtil.truncateStringMin(value, length),
            "upper", UnicodeUtil.truncateStringMax(value, length)));
      }
    }
    List<Object> binary = new ArrayList<>();
    for (String hex : hexes) {
      for (int length : new int[] {1, 2, 3, 16}) {
        binary.add(members("hex", hex, "length", length,
            "lower", plain(BinaryUtil.truncateBinaryMin(bytes(hex), length)),
            "upper", plain(BinaryUtil.truncateBinaryMax(bytes(hex), length))));
      }
    }
    return members("strings", text, "binary", binary);
  }
}
