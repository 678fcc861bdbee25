package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.TableIdentifier;

/** Commands that let {@link HourlyWriter} work in the background while the tool goes on to answer. */
final class WriterJobs {
  private final Catalog catalog;
  private final Map<String, Background> tables = new HashMap<>();

  /** What goes on with one table. */
  private static final class Background {
    final HourlyWriter writer;
    final List<Map<String, Object>> done = new ArrayList<>();
    final List<Thread> threads = new ArrayList<>();
    Gate gate = new Gate();
    volatile boolean stopped;

    Background(HourlyWriter writer) {
      this.writer = writer;
    }

    void start(Runnable work) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }

    void loop(Supplier<Map<String, Object>> job) {
      start(() -> {
        while (!stopped) {
          note(job.get());
        }
      });
    }

    synchronized void note(Map<String, Object> job) {
      done.add(job);
    }

    synchronized Map<String, Object> state() {
      boolean running = threads.stream().anyMatch(Thread::isAlive);
      return Map.of("running", running, "jobs", List.copyOf(done));
    }
  }

  WriterJobs(Catalog catalog) {
    this.catalog = catalog;
  }

  Map<String, Tool.Command> commands() {
    return Map.of(
        "seedHours", this::seed,
        "startJobs", this::start,
        "stopJobs", this::stop,
        "jobs", request -> of(request).state(),
        "pauseJob", this::pause,
        "resumeJob", this::resume,
        "writtenRows", request -> of(request).writer.rows());
  }

  private Background of(JsonNode request) {
    return tables.get(request.get("table").asText());
  }

  private Object seed(JsonNode request) throws IOException {
    String table = request.get("table").asText();
    HourlyWriter writer =
        new HourlyWriter(catalog, TableIdentifier.parse(table), request.get("coldHours").asInt());
    tables.put(table, new Background(writer));
    writer.seed();
    return true;
  }

  /**
   * Appends in one loop, MERGEs in another, until told to stop. After an append its loop rests twice as long as that
   * took, so that a MERGE finds a moment to commit in, however slow the machine.
   */
  private Object start(JsonNode request) {
    Background table = of(request);
    long mergeMs = request.get("mergeMs").asLong();
    long appendPauseMs = request.get("appendPauseMs").asLong();
    table.loop(() -> table.writer.merge(() -> sleep(mergeMs)));
    table.loop(() -> {
      long startedNanos = System.nanoTime();
      Map<String, Object> job = table.writer.append();
      long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
      sleep(Math.max(appendPauseMs, 2 * tookMs));
      return job;
    });
    return true;
  }

  /** Lets each loop end its job; `jobs` says when they have. */
  private Object stop(JsonNode request) {
    of(request).stopped = true;
    return true;
  }

  /**
   * Starts one job, and answers when it stands still: a MERGE after its `read`, or any job right before its conditional
   * `write`. A job that fails before that has ended then.
   */
  private Object pause(JsonNode request) {
    Background table = of(request);
    Gate gate = new Gate();
    table.gate = gate;
    boolean beforeWrite = request.get("at").asText().equals("write");
    Supplier<Map<String, Object>> job = request.get("kind").asText().equals("merge")
        ? () -> table.writer.merge(beforeWrite ? () -> {} : gate::pass)
        : table.writer::append;
    table.start(() -> {
      if (beforeWrite) {
        PausingClients.beforeWrite(gate::pass);
      }
      table.note(job.get());
      gate.leave();
    });
    gate.awaitReached();
    return true;
  }

  /** Lets the paused job go on, and answers with how it ended. */
  private Object resume(JsonNode request) throws InterruptedException {
    Background table = of(request);
    table.gate.open();
    table.threads.get(table.threads.size() - 1).join();
    return table.done.get(table.done.size() - 1);
  }

  private static void sleep(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
