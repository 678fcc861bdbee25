package firn.interop;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Schemas that goldens share. */
final class Schemas {
  private Schemas() {}

  /** One optional column of every primitive type of a version, named after it, field ids from 1, two nested columns. */
  static List<Types.NestedField> allTypes(int version) {
    List<Type> types = new ArrayList<>(List.of(
        Types.BooleanType.get(), Types.IntegerType.get(), Types.LongType.get(), Types.FloatType.get(),
        Types.DoubleType.get(), Types.DecimalType.of(9, 2), Types.DecimalType.of(18, 4), Types.DecimalType.of(38, 10),
        Types.DateType.get(), Types.TimeType.get(), Types.TimestampType.withoutZone(), Types.TimestampType.withZone(),
        Types.StringType.get(), Types.UUIDType.get(), Types.FixedType.ofLength(5), Types.BinaryType.get()));
    if (version >= 3) {
      types.add(Types.TimestampNanoType.withoutZone());
      types.add(Types.TimestampNanoType.withZone());
    }
    List<Types.NestedField> fields = new ArrayList<>();
    for (Type type : types) {
      fields.add(Types.NestedField.optional(fields.size() + 1, name(type), type));
    }
    fields.add(Types.NestedField.optional(50, "list_col", Types.ListType.ofOptional(51, Types.StringType.get())));
    fields.add(Types.NestedField.optional(60, "map_col",
        Types.MapType.ofOptional(61, 62, Types.StringType.get(), Types.DoubleType.get())));
    fields.add(Types.NestedField.optional(70, "struct_col", Types.StructType.of(
        Types.NestedField.optional(71, "inner", Types.LongType.get()),
        Types.NestedField.optional(72, "ratio", Types.FloatType.get()))));
    return fields;
  }

  private static String name(Type type) {
    if (type.typeId() == Type.TypeID.FIXED) {
      return "fixed_col";
    }
    if (type.typeId() == Type.TypeID.INTEGER) {
      return "int_col";
    }
    return type.toString().replaceAll("[^a-z0-9_]+", "_").replaceAll("_$", "") + "_col";
  }
}
