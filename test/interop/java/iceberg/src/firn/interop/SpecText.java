package firn.interop;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Term;

/** Partition fields written as `column`, `bucket[4](column)`, `truncate[3](column)`, `day(column)`, `hour(column)`. */
final class SpecText {
  private static final Pattern TEXT = Pattern.compile("(?:(\\w+)(?:\\[(\\d+)])?\\()?([\\w.]+)\\)?");

  private SpecText() {}

  private static Matcher match(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("no partition field: " + text);
    }
    return matcher;
  }

  static void addTo(PartitionSpec.Builder spec, String text) {
    Matcher field = match(text);
    String column = field.group(3);
    switch (field.group(1) == null ? "identity" : field.group(1)) {
      case "identity" -> spec.identity(column);
      case "bucket" -> spec.bucket(column, Integer.parseInt(field.group(2)));
      case "truncate" -> spec.truncate(column, Integer.parseInt(field.group(2)));
      case "day" -> spec.day(column);
      case "hour" -> spec.hour(column);
      default -> throw new IllegalArgumentException("no such transform: " + text);
    }
  }

  static Term term(String text) {
    Matcher field = match(text);
    String column = field.group(3);
    return switch (field.group(1) == null ? "identity" : field.group(1)) {
      case "identity" -> Expressions.ref(column);
      case "bucket" -> Expressions.bucket(column, Integer.parseInt(field.group(2)));
      case "truncate" -> Expressions.truncate(column, Integer.parseInt(field.group(2)));
      case "day" -> Expressions.day(column);
      case "hour" -> Expressions.hour(column);
      default -> throw new IllegalArgumentException("no such transform: " + text);
    };
  }
}
