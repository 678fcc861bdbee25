package firn.interop;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.variants.Variant;
import org.apache.iceberg.variants.VariantArray;
import org.apache.iceberg.variants.VariantObject;
import org.apache.iceberg.variants.VariantPrimitive;
import org.apache.iceberg.variants.VariantValue;

/** The canonical text of a value, as README.md defines it: equal values give equal text in every tool. */
public final class Canonical {
  private Canonical() {}

  /**
   * The text of one value of a type. Values are what Iceberg's generic readers give (LocalDate, LocalTime,
   * LocalDateTime, OffsetDateTime, ByteBuffer, UUID, Record); structs may also be Object[], binary values byte[],
   * zoned timestamps Instant.
   */
  public static String text(Type type, Object value) {
    if (value == null) {
      return "null";
    }
    switch (type.typeId()) {
      case FLOAT:
        return String.format("f%08x", Float.floatToIntBits((Float) value));
      case DOUBLE:
        return String.format("d%016x", Double.doubleToLongBits((Double) value));
      case DECIMAL:
        BigDecimal decimal = (BigDecimal) value;
        return decimal.unscaledValue() + "@" + decimal.scale();
      case STRING:
        return quote(value.toString());
      case FIXED:
      case BINARY:
        return "x" + hex(value);
      case DATE:
        return Long.toString(((LocalDate) value).toEpochDay());
      case TIME:
        return Long.toString(((LocalTime) value).toNanoOfDay() / 1000);
      case TIMESTAMP:
        return Long.toString(Math.floorDiv(nanos(value), 1000L));
      case TIMESTAMP_NANO:
        return Long.toString(nanos(value));
      case STRUCT:
        return struct(type.asStructType(), value);
      case LIST:
        return list(type.asListType(), (Iterable<?>) value);
      case MAP:
        return map(type.asMapType(), (Map<?, ?>) value);
      case VARIANT:
        return variant(((Variant) value).value());
      default:
        return value.toString();
    }
  }

  private static long nanos(Object value) {
    Instant instant;
    if (value instanceof Instant) {
      instant = (Instant) value;
    } else if (value instanceof OffsetDateTime) {
      instant = ((OffsetDateTime) value).toInstant();
    } else {
      instant = ((LocalDateTime) value).toInstant(ZoneOffset.UTC);
    }
    return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
  }

  private static String struct(Types.StructType type, Object value) {
    List<String> texts = new ArrayList<>();
    List<Types.NestedField> fields = type.fields();
    for (int i = 0; i < fields.size(); i++) {
      Object member = value instanceof Object[] ? ((Object[]) value)[i] : ((StructLike) value).get(i, Object.class);
      texts.add(text(fields.get(i).type(), member));
    }
    return "(" + String.join(",", texts) + ")";
  }

  private static String list(Types.ListType type, Iterable<?> value) {
    List<String> texts = new ArrayList<>();
    value.forEach(element -> texts.add(text(type.elementType(), element)));
    return "[" + String.join(",", texts) + "]";
  }

  private static String map(Types.MapType type, Map<?, ?> value) {
    TreeMap<String, String> texts = new TreeMap<>();
    value.forEach((key, member) -> texts.put(text(type.keyType(), key), text(type.valueType(), member)));
    List<String> entries = new ArrayList<>();
    texts.forEach((key, member) -> entries.add(key + ":" + member));
    return "{" + String.join(",", entries) + "}";
  }

  private static String variant(VariantValue value) {
    List<String> texts = new ArrayList<>();
    if (value instanceof VariantObject) {
      TreeMap<String, String> fields = new TreeMap<>();
      VariantObject object = value.asObject();
      object.fieldNames().forEach(name -> fields.put(quote(name), variant(object.get(name))));
      fields.forEach((name, text) -> texts.add(name + ":" + text));
      return "v{" + String.join(",", texts) + "}";
    }
    if (value instanceof VariantArray) {
      VariantArray array = value.asArray();
      for (int i = 0; i < array.numElements(); i++) {
        texts.add(variant(array.get(i)));
      }
      return "v[" + String.join(",", texts) + "]";
    }
    VariantPrimitive<?> primitive = value.asPrimitive();
    Object member = primitive.get();
    String text = member instanceof ByteBuffer ? hex(member) : String.valueOf(member);
    return "v" + primitive.type() + quote(text);
  }

  /** Lower-case hex of a ByteBuffer's remaining bytes or of a byte[]. */
  public static String hex(Object value) {
    if (value instanceof byte[]) {
      return HexFormat.of().formatHex((byte[]) value);
    }
    ByteBuffer buffer = ((ByteBuffer) value).duplicate();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** Printable ASCII stays; quote, backslash and every other UTF-16 unit become a backslash, u and four hex digits. */
  static String quote(String value) {
    StringBuilder text = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char unit = value.charAt(i);
      if (unit < 0x20 || unit > 0x7e || unit == '"' || unit == '\\') {
        text.append(String.format("\\u%04x", (int) unit));
      } else {
        text.append(unit);
      }
    }
    return text.append('"').toString();
  }
}
