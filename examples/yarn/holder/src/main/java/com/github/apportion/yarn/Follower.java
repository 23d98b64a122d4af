package com.github.apportion.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;

/**
 * Lets an application master of your own hold the containers that a controller decides on. The master registers, beats and
 * unregisters as it always does, and
 *
 * <ol>
 *   <li>calls {@link #registered} with the containers of previous attempts, once;
 *   <li>calls {@link #follow} before each heartbeat: it reads what is to be held, asks for what is missing and gives back what
 *       is to go, on the master's own connection;
 *   <li>hands what each heartbeat has brought to {@link #granted} and {@link #completed};
 *   <li>starts, stops and looks for containers when it is told to, as {@link Work}, and says how that went by {@link #started}
 *       or {@link #failed};
 *   <li>ends when {@link #ending} says so.
 * </ol>
 *
 * <p>Orders and answers are files in a folder of the application, which the controller has made, so that either side may die
 * and come back. Containers of the master's own are asked for under allocation request IDs below {@link #FIRST_NUMBER}, and
 * are left alone. All methods may be called from any thread.
 */
public final class Follower {
  /** The least allocation request ID of containers that a controller has decided on. */
  public static final long FIRST_NUMBER = Entry.number(1, 0);

  /** The file of orders, and the one of answers in a folder of its own: each side writes into its own folder. */
  static final String ORDERS = "orders.json";

  static final String TOLD = "told";
  static final String ANSWER = "stands.json";

  /** What a master does with containers. */
  public interface Work {
    /**
     * Starts a container, and calls {@link Follower#started} or {@link Follower#failed} when it knows how that went. A master
     * may add to what is started (local resources, variables, tokens), and must run the command as it is: in it a guard keeps
     * the promise that a run does not outlive its lease.
     *
     * @param container the container
     * @param context what it is to run
     */
    void start(Container container, ContainerLaunchContext context);

    /**
     * Looks for a container that an attempt of the application before this one was granted. If its node does not know it, or
     * it has ended there, {@link Follower#failed} or {@link Follower#completed} is to be called.
     *
     * @param container the container
     */
    void find(Container container);

    /**
     * Is told that a container is given back with the next heartbeat, which ends it. There is nothing that must be done.
     *
     * @param container the container
     */
    default void stop(Container container) {}
  }

  private final ObjectMapper json = new ObjectMapper();
  private final Path folder;
  private final AMRMClient<ContainerRequest> rm;
  private final Work work;
  private final Requests requests;
  private long begun;
  private String told = "";
  private FinalApplicationStatus ending;
  private String why = "";

  /**
   * Makes a follower.
   *
   * @param masters the folder of the controller's for masters, {@code masters} in the shared folder
   * @param application the application
   * @param conf the client's configuration
   * @param rm the master's connection; one of an {@code AMRMClientAsync} is the one that it was made from
   * @param work what the master does with containers
   * @throws IOException if what an attempt before this one has told cannot be read
   */
  public Follower(Path masters, ApplicationId application, Configuration conf, AMRMClient<ContainerRequest> rm, Work work)
      throws IOException {
    folder = masters.resolve(application.toString());
    this.rm = rm;
    this.work = work;
    requests = new Requests(conf);
    begun = read(folder.resolve(TOLD).resolve(ANSWER)).path("begun").asLong();
    requests.begun(begun);
  }

  /**
   * Takes over what previous attempts of the application have left; nothing for the first one. It must be called before {@link
   * #follow}.
   *
   * @param found what the registration has returned
   * @return those of them that are the master's own
   */
  public List<Container> registered(Collection<Container> found) {
    List<Container> own = new ArrayList<>();
    List<Container> ofRuns = new ArrayList<>();
    for (Container c : found) {
      (Entry.isOfRun(c.getAllocationRequestId()) ? ofRuns : own).add(c);
    }
    for (Entry e : requests.takeOver(ofRuns)) {
      work.find(e.container);
    }
    return own;
  }

  /**
   * Reads what is to be held, and has the next heartbeat ask for what is missing and give back what is to go. It tells the
   * controller how everything stands.
   *
   * @throws IOException if orders cannot be read, or the answer cannot be written; it is to be called again
   */
  public synchronized void follow() throws IOException {
    JsonNode orders = read(folder.resolve(ORDERS));
    if (orders.isEmpty()) {
      return; // the controller has not seen the application yet
    }
    for (Entry e : requests.stop(orders.path("stop").asLong())) {
      if (e.container != null) {
        work.stop(e.container);
      }
    }
    JsonNode run = orders.path("run");
    long attempt = run.path("attempt").asLong();
    if (attempt > begun) {
      begun = attempt;
      requests.start(attempt, new Task(run), run.path("parts"));
    }
    if (orders.hasNonNull("status")) {
      ending = FinalApplicationStatus.valueOf(orders.path("status").asText());
      why = orders.path("why").asText();
    }
    // It is on record first: an attempt of the application after this one must not ask for the same run again.
    tell();
    requests.ask(rm);
  }

  /**
   * Takes in containers that were granted: those that were asked for are started, others of runs are given back.
   *
   * @param containers what a heartbeat has brought
   * @return those that are the master's own
   */
  public List<Container> granted(Collection<Container> containers) {
    List<Container> own = new ArrayList<>();
    for (Container c : containers) {
      if (!Entry.isOfRun(c.getAllocationRequestId())) {
        own.add(c);
        continue;
      }
      Requests.Start start = requests.granted(rm, c);
      if (start != null) {
        Map<String, String> variables = start.task.environmentOf(start.entry);
        work.start(c, ContainerLaunchContext.newInstance(Map.of(), variables, List.of(start.task.command), null, null, null));
      }
    }
    return own;
  }

  /**
   * Takes in how containers have ended; what is said of the master's own is nothing to it.
   *
   * @param statuses what a heartbeat has brought, or a NodeManager has said
   */
  public void completed(Collection<ContainerStatus> statuses) {
    statuses.forEach(requests::completed);
  }

  /**
   * Takes in that a container was started.
   *
   * @param container the container
   */
  public void started(Container container) {
    Entry e = requests.find(container);
    if (e != null) {
      requests.started(e);
    }
  }

  /**
   * Takes in that a container was not started, or is not known to its node. It is given back with the next heartbeat.
   *
   * @param container the container
   * @param why why, in words for people
   */
  public void failed(Container container, String why) {
    Entry e = requests.find(container);
    if (e != null) {
      requests.failed(e, why);
    }
  }

  /**
   * Returns how the master is to unregister; null: its job has not ended.
   *
   * @return the status of the application
   */
  public synchronized FinalApplicationStatus ending() {
    return ending;
  }

  /**
   * Returns why the job has ended, for people; empty: it has not.
   *
   * @return the words for the diagnostics of the application
   */
  public synchronized String why() {
    return why;
  }

  /** Reads a file; a missing one is an object without fields. */
  private JsonNode read(Path file) throws IOException {
    try {
      return json.readTree(Files.readAllBytes(file));
    } catch (NoSuchFileException e) {
      return json.createObjectNode();
    }
  }

  /** Writes how everything stands, if that has changed: whoever reads it sees one answer or the one before. */
  private void tell() throws IOException {
    ObjectNode answer = json.createObjectNode().put("state", "open").put("why", "").put("begun", begun);
    requests.tell(answer, true);
    String text = json.writeValueAsString(answer);
    if (text.equals(told)) {
      return;
    }
    Path there = folder.resolve(TOLD);
    Path next = there.resolve(ANSWER + ".new");
    Files.write(next, Arrays.asList(text));
    try (FileChannel file = FileChannel.open(next, StandardOpenOption.WRITE)) {
      file.force(true);
    }
    Files.move(next, there.resolve(ANSWER), StandardCopyOption.ATOMIC_MOVE);
    told = text;
  }
}
