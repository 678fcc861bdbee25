package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Table;
import org.apache.iceberg.UpdateSchema;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.types.Type;

/** Schema changes as requests name them: each has `change` and the members that it needs. */
final class SchemaChanges {
  private SchemaChanges() {}

  /** Applies the changes in order, in one commit. */
  static void apply(Table table, JsonNode changes) {
    UpdateSchema update = table.updateSchema();
    changes.forEach(change -> apply(update, change));
    update.commit();
  }

  private static void apply(UpdateSchema update, JsonNode change) {
    String column = change.get("column").asText();
    switch (change.get("change").asText()) {
      case "add" -> add(update, column, change);
      case "widen" -> update.updateColumn(column, type(change.get("type")).asPrimitiveType());
      case "rename" -> update.renameColumn(column, change.get("to").asText());
      case "drop" -> update.deleteColumn(column);
      case "moveFirst" -> update.moveFirst(column);
      default -> throw new IllegalArgumentException("no such change: " + change);
    }
  }

  private static void add(UpdateSchema update, String column, JsonNode change) {
    int dot = column.lastIndexOf('.');
    Type type = type(change.get("type"));
    if (change.hasNonNull("stringDefault")) {
      update.addColumn(column, type, null, Literal.of(change.get("stringDefault").asText()));
    } else if (dot < 0) {
      update.addColumn(column, type);
    } else {
      update.addColumn(column.substring(0, dot), column.substring(dot + 1), type);
    }
  }

  /** A type in the JSON form of Iceberg's spec. */
  private static Type type(JsonNode json) {
    JsonNode schema = Tool.JSON.createObjectNode().put("type", "struct").set("fields", Tool.JSON.createArrayNode().add(
        Tool.JSON.createObjectNode().put("id", 0).put("name", "it").put("required", false).set("type", json)));
    return SchemaParser.fromJson(schema).findType("it");
  }
}
