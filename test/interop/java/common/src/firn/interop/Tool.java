package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** One JSON request a line on stdin, one JSON answer a line on stdout; everything else goes to stderr. */
public final class Tool {
  public static final ObjectMapper JSON = new ObjectMapper();

  /** One command of a tool: the request in, a JSON-serialisable answer out. */
  public interface Command {
    Object run(JsonNode request) throws Exception;
  }

  private Tool() {}

  /** Answers requests until stdin closes. Requests carry `id` and `command`, answers `id` and `result` or `error`. */
  public static void serve(Map<String, Command> commands) throws IOException {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      answers.println(JSON.writeValueAsString(answer(commands, JSON.readTree(line))));
    }
  }

  private static ObjectNode answer(Map<String, Command> commands, JsonNode request) {
    ObjectNode answer = JSON.createObjectNode();
    answer.set("id", request.get("id"));
    try {
      Command command = commands.get(request.path("command").asText());
      if (command == null) {
        throw new IllegalArgumentException("no such command: " + request.path("command"));
      }
      answer.set("result", JSON.valueToTree(command.run(request)));
    } catch (Throwable failure) {
      StringWriter trace = new StringWriter();
      failure.printStackTrace(new PrintWriter(trace));
      answer.put("error", trace.toString());
    }
    return answer;
  }
}
