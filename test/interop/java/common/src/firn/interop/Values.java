package firn.interop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/**
 * Seeded values of every type, half of them ones that break encoders: extremes, NaN, signed zeroes, empty strings,
 * 38-digit decimals, moments before 1970. Structs come as Object[], everything else as Iceberg's generic objects.
 */
public final class Values {
  private static final String[] STRINGS = {
    "", " ", "a", "\u00e9t\u00e9", "\ud83d\ude00 smile", "quote \" and \\ back", "line\nbreak", "\uffff", "zzzzzzzzzzzzzzzzzzzzzzzz", "0"
  };
  private static final long[] LONGS = {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 53, -(1L << 53) - 1};
  private static final int[] INTS = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 128};
  private static final float[] FLOATS = {
    0f, -0f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.MIN_VALUE, Float.MAX_VALUE, -1.5f
  };
  private static final double[] DOUBLES = {
    0d, -0d, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, Double.MAX_VALUE, 0.1
  };
  /** Microseconds from 1970: a microsecond before it, 1582 and 2262 inside the range of nanoseconds. */
  private static final long[] MICROS = {0, 1, -1, -86_400_000_001L, 1_700_000_000_123_456L, -9_000_000_000_000_000L};
  /** One field in this many is null where it may be. */
  private static final int NULL_ONE_IN = 6;

  private Values() {}

  /** A row of a schema, or the fields of a struct. */
  public static Object[] struct(Types.StructType type, Random random) {
    Object[] values = new Object[type.fields().size()];
    for (int i = 0; i < values.length; i++) {
      Types.NestedField field = type.fields().get(i);
      values[i] = optional(field.isOptional(), field.type(), random);
    }
    return values;
  }

  private static Object optional(boolean isOptional, Type type, Random random) {
    boolean isNull = isOptional && random.nextInt(NULL_ONE_IN) == 0;
    return isNull ? null : value(type, random);
  }

  /** One value of a type; null for `unknown`. */
  public static Object value(Type type, Random random) {
    boolean special = random.nextBoolean();
    switch (type.typeId()) {
      case BOOLEAN:
        return random.nextBoolean();
      case INTEGER:
        return special ? INTS[random.nextInt(INTS.length)] : random.nextInt(1000) - 500;
      case LONG:
        return special ? LONGS[random.nextInt(LONGS.length)] : random.nextLong();
      case FLOAT:
        return special ? FLOATS[random.nextInt(FLOATS.length)] : (float) random.nextGaussian();
      case DOUBLE:
        return special ? DOUBLES[random.nextInt(DOUBLES.length)] : random.nextGaussian();
      case DECIMAL:
        return decimal((Types.DecimalType) type, special, random);
      case DATE:
        return LocalDate.ofEpochDay(special ? -719_162 + random.nextInt(3) : random.nextInt(40_000) - 20_000);
      case TIME:
        return LocalTime.ofNanoOfDay(1000L * (special ? (random.nextBoolean() ? 0 : 86_399_999_999L) : random.nextInt()
            & Integer.MAX_VALUE));
      case TIMESTAMP:
        return moment(micros(special, random) * 1000, ((Types.TimestampType) type).shouldAdjustToUTC());
      case TIMESTAMP_NANO:
        long nanos = micros(special, random) * 1000 + random.nextInt(1000);
        return moment(nanos, ((Types.TimestampNanoType) type).shouldAdjustToUTC());
      case STRING:
        return special ? STRINGS[random.nextInt(STRINGS.length)] : "value-" + random.nextInt(50);
      case UUID:
        return new UUID(special ? -1L : random.nextLong(), random.nextLong());
      case FIXED:
        return bytes(((Types.FixedType) type).length(), random);
      case BINARY:
        return ByteBuffer.wrap(special ? new byte[] {(byte) 0xff, 0} : bytes(random.nextInt(12), random));
      case STRUCT:
        return struct(type.asStructType(), random);
      case LIST:
        return list(type.asListType(), random);
      case MAP:
        return map(type.asMapType(), random);
      case UNKNOWN:
        return null;
      default:
        throw new IllegalArgumentException("no values for type " + type);
    }
  }

  private static long micros(boolean special, Random random) {
    return special ? MICROS[random.nextInt(MICROS.length)] : random.nextInt() * 1_000_003L;
  }

  private static Object moment(long nanos, boolean zoned) {
    LocalDateTime moment = LocalDateTime.ofEpochSecond(
        Math.floorDiv(nanos, 1_000_000_000L), (int) Math.floorMod(nanos, 1_000_000_000L), ZoneOffset.UTC);
    return zoned ? moment.atOffset(ZoneOffset.UTC) : moment;
  }

  private static BigDecimal decimal(Types.DecimalType type, boolean special, Random random) {
    BigInteger largest = BigInteger.TEN.pow(type.precision()).subtract(BigInteger.ONE);
    BigInteger size = special ? largest : new BigInteger(largest.bitLength() - 1, random);
    return new BigDecimal(random.nextBoolean() ? size : size.negate(), type.scale());
  }

  private static byte[] bytes(int length, Random random) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static List<Object> list(Types.ListType type, Random random) {
    List<Object> elements = new ArrayList<>();
    for (int left = random.nextInt(4); left > 0; left--) {
      elements.add(optional(type.isElementOptional(), type.elementType(), random));
    }
    return elements;
  }

  private static Map<Object, Object> map(Types.MapType type, Random random) {
    Map<Object, Object> entries = new LinkedHashMap<>();
    for (int left = random.nextInt(4); left > 0; left--) {
      entries.put(value(type.keyType(), random), optional(type.isValueOptional(), type.valueType(), random));
    }
    return entries;
  }
}
