package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Writes what Iceberg Java computes, as test data for the unit tests: the argument is the folder to fill. */
public final class GoldenMain {
  private GoldenMain() {}

  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    Files.createDirectories(folder);
    write(folder.resolve("single-values.json"), GoldenValues.singleValues());
    write(folder.resolve("transforms.json"), GoldenValues.transforms());
    write(folder.resolve("locations.json"), GoldenValues.locations());
    write(folder.resolve("truncated-bounds.json"), GoldenValues.truncatedBounds());
    new GoldenTables(folder.resolve("tables")).writeAll();
  }

  /** JSON with one line for each element of an array, or member of an object, at the top. */
  static void write(Path file, Object content) throws IOException {
    Files.createDirectories(file.getParent());
    JsonNode json = Tool.JSON.valueToTree(content);
    List<String> lines = new ArrayList<>();
    if (json.isArray()) {
      json.forEach(element -> lines.add(element.toString()));
    } else {
      json.properties().forEach(member -> lines.add("\"" + member.getKey() + "\": " + member.getValue()));
    }
    String body = String.join(",\n", lines);
    Files.writeString(file, json.isArray() ? "[\n" + body + "\n]\n" : "{\n" + body + "\n}\n");
  }
}
