package com.github.apportion.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationResponse;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptReport;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.client.api.impl.NMClientImpl;
import org.apache.hadoop.yarn.client.api.impl.YarnClientImpl;
import org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.util.Records;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Tests the master of one job against a cluster that says what it is told to say. */
public class MasterTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Where the tokens are. */
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final FakeRM rm = new FakeRM();
  private final List<String> nodes = Collections.synchronizedList(new ArrayList<>());
  private final List<ApplicationReport> known = Collections.synchronizedList(new ArrayList<>());
  private final List<ApplicationSubmissionContext> submitted = Collections.synchronizedList(new ArrayList<>());
  private final List<ApplicationId> mastered = Collections.synchronizedList(new ArrayList<>());
  private final Map<ApplicationId, Integer> asked = new ConcurrentHashMap<>();
  private volatile YarnException refusal;
  private volatile YarnException nodeFault;
  private volatile YarnApplicationState after = YarnApplicationState.ACCEPTED;
  private volatile ContainerState found = ContainerState.RUNNING;
  private Master master;
  private Thread thread;

  /** The ResourceManager as users see it. */
  private final class FakeYarn extends YarnClientImpl {
    @Override
    protected void serviceInit(Configuration conf) {}

    @Override
    protected void serviceStart() {}

    @Override
    protected void serviceStop() {}

    @Override
    public List<ApplicationReport> getApplications(Set<String> types, EnumSet<YarnApplicationState> states) {
      List<ApplicationReport> list = new ArrayList<>();
      for (ApplicationReport r : known.toArray(new ApplicationReport[0])) {
        if (types.contains(r.getApplicationType()) && states.contains(r.getYarnApplicationState())) {
          list.add(r);
        }
      }
      return list;
    }

    @Override
    public YarnClientApplication createApplication() {
      ApplicationSubmissionContext context = Records.newRecord(ApplicationSubmissionContext.class);
      context.setApplicationId(ApplicationId.newInstance(1, 100 + submitted.size()));
      return new YarnClientApplication(Records.newRecord(GetNewApplicationResponse.class), context);
    }

    @Override
    public ApplicationId submitApplication(ApplicationSubmissionContext context) throws YarnException {
      if (refusal != null) {
        throw refusal;
      }
      submitted.add(context);
      known.add(report(context.getApplicationId(), after, context.getApplicationTags()));
      return context.getApplicationId();
    }

    @Override
    public ApplicationReport getApplicationReport(ApplicationId id) {
      return reportOf(id);
    }

    @Override
    public ApplicationAttemptReport getApplicationAttemptReport(ApplicationAttemptId id) {
      ApplicationAttemptReport r = Records.newRecord(ApplicationAttemptReport.class);
      r.setYarnApplicationAttemptState(YarnApplicationAttemptState.LAUNCHED);
      return r;
    }

    @Override
    public Token<AMRMTokenIdentifier> getAMRMToken(ApplicationId id) {
      mastered.add(id);
      // It is given out until a master has registered, and not any more.
      int before = asked.computeIfAbsent(id, x -> rm.registrations());
      return rm.registrations() > before ? null : token("first");
    }
  }

  private static Token<AMRMTokenIdentifier> token(String password) {
    return new Token<>(new byte[] {1}, password.getBytes(StandardCharsets.US_ASCII), AMRMTokenIdentifier.KIND_NAME, new Text("rm"));
  }

  /** The NodeManagers. */
  private final class FakeNodes extends NMClientImpl {
    @Override
    protected void serviceInit(Configuration conf) {}

    @Override
    protected void serviceStart() {}

    @Override
    protected void serviceStop() {}

    @Override
    public void cleanupRunningContainersOnStop(boolean enabled) {
      nodes.add("clean up " + enabled);
    }

    @Override
    public Map<String, ByteBuffer> startContainer(Container c, ContainerLaunchContext context) throws YarnException {
      if (nodeFault != null) {
        throw nodeFault;
      }
      nodes.add("start " + c.getId().getContainerId() + " " + context.getCommands());
      return Map.of();
    }

    @Override
    public ContainerStatus getContainerStatus(ContainerId id, NodeId node) throws YarnException {
      if (nodeFault != null) {
        throw nodeFault;
      }
      return ContainerStatus.newInstance(id, found, "", 9);
    }
  }

  private static ApplicationReport report(ApplicationId id, YarnApplicationState state, Set<String> tags) {
    ApplicationReport r = Records.newRecord(ApplicationReport.class);
    r.setApplicationId(id);
    r.setCurrentApplicationAttemptId(ApplicationAttemptId.newInstance(id, 1));
    r.setApplicationType(Master.TYPE);
    r.setApplicationTags(tags);
    r.setName("lr");
    r.setYarnApplicationState(state);
    r.setDiagnostics("as told");
    try {
      r.setUser(UserGroupInformation.getLoginUser().getShortUserName());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return r;
  }

  private ApplicationReport reportOf(ApplicationId id) {
    for (ApplicationReport r : known.toArray(new ApplicationReport[0])) {
      if (r.getApplicationId().equals(id)) {
        return r;
      }
    }
    throw new IllegalStateException(id + " is not known");
  }

  private void begin() throws IOException {
    JsonNode order =
        JSON.readTree(
            "{\"job\":\"lr\",\"user\":\""
                + UserGroupInformation.getLoginUser().getShortUserName()
                + "\",\"queue\":\"a\",\"label\":\"fast\",\"priority\":3,\"stamp\":\"t5\"}");
    Clients clients =
        new Clients() {
          @Override
          public YarnClient yarn() {
            return new FakeYarn();
          }

          @Override
          public AMRMClient<ContainerRequest> rm() {
            return rm;
          }

          @Override
          public NMClient nm() {
            return new FakeNodes();
          }
        };
    master = new Master(new Configuration(false), clients, new Tokens(folder.getRoot().toPath().resolve("tokens")), Runnable::run, "me", 5, order);
    thread = new Thread(master);
    thread.start();
  }

  /** Ends the master, if there is one. */
  @After
  public void end() throws InterruptedException {
    if (thread != null) {
      thread.interrupt();
      thread.join();
    }
  }

  private JsonNode stands() {
    ObjectNode answer = JSON.createObjectNode();
    master.tell(answer, true);
    return answer;
  }

  private void awaitThat(String what, BooleanSupplier is) throws InterruptedException {
    for (long limit = System.nanoTime() + 60_000_000_000L; !is.getAsBoolean(); Thread.sleep(2)) {
      assertTrue("never: " + what + "; " + stands() + rm.told + nodes, System.nanoTime() < limit);
    }
  }

  private void awaitState(String state) throws InterruptedException {
    awaitThat(state, () -> stands().path("state").asText().equals(state));
  }

  private void start() throws IOException {
    JsonNode run = RequestsTest.run(3, RequestsTest.THREE);
    master.start(3, new Task(run), run.path("parts"));
  }

  private String stateOf(int i) {
    return stands().path("containers").path(i).path("state").asText();
  }

  /** An application is submitted once, as its user wants it, and holds what it is told to. */
  @Test
  public void itHoldsWhatItIsTold() throws IOException, InterruptedException {
    begin();
    start();
    awaitState("open");
    ApplicationSubmissionContext c = submitted.get(0);
    assertTrue(c.getUnmanagedAM() && c.getKeepContainersAcrossApplicationAttempts());
    assertEquals(Set.of("me", "t5"), c.getApplicationTags());
    assertEquals("a fast 3", c.getQueue() + " " + c.getNodeLabelExpression() + " " + c.getPriority().getPriority());
    assertTrue(nodes.toString(), nodes.contains("clean up false"));
    awaitThat("it has asked", () -> rm.was("ask " + Entry.number(3, 2) + " n2"));
    rm.grant(FakeRM.container(5, Entry.number(3, 0), "n1", 1));
    rm.grant(FakeRM.container(6, Entry.number(3, 0), "n1", 1));
    awaitThat("it has started one", () -> stateOf(0).equals("started"));
    awaitThat("it has released the other", () -> rm.was("release 6"));
    assertTrue(nodes.toString(), nodes.contains("start 5 [exec x]"));
    rm.end(FakeRM.ended(FakeRM.container(5, Entry.number(3, 0), "n1", 1), 137, "killed"));
    awaitThat("it knows the end", () -> stands().path("containers").path(0).path("exit").asInt() == 137);
    master.stop(3);
    awaitThat("it has taken back the rest", () -> rm.was("take back " + Entry.number(3, 1)));
    master.end(FinalApplicationStatus.SUCCEEDED, "completed");
    awaitState("closed");
    assertTrue(rm.told.toString(), rm.was("end SUCCEEDED completed"));
    thread.join();
    assertEquals(1, submitted.size());
  }

  /** The application of a holder before this one is taken over with its containers, and none is submitted. */
  @Test
  public void itTakesOver() throws IOException, InterruptedException {
    known.add(report(ApplicationId.newInstance(1, 8), YarnApplicationState.RUNNING, Set.of("me", "t4")));
    known.add(report(ApplicationId.newInstance(1, 9), YarnApplicationState.RUNNING, Set.of("me", "t5")));
    rm.left.add(FakeRM.container(5, Entry.number(3, 0), "n1", 1));
    begin();
    awaitState("open");
    assertEquals(List.of(), submitted);
    assertEquals(List.of(ApplicationId.newInstance(1, 9)), mastered);
    assertEquals("started", stateOf(0));
    start();
    Thread.sleep(50);
    assertEquals("the run is asked for once", 1, stands().path("containers").size());
  }

  /** A token is given out once: the next holder registers with the one that was kept, as it was put in the place of the first. */
  @Test
  public void theNextHolderHasTheToken() throws IOException, InterruptedException {
    begin();
    awaitState("open");
    Path kept = folder.getRoot().toPath().resolve("tokens").resolve(submitted.get(0).getApplicationId().toString());
    assertEquals(token("first").encodeToUrlString(), Files.readString(kept));
    rm.rolled = token("second");
    String second = token("second").encodeToUrlString();
    awaitThat("the second is kept", () -> read(kept).equals(second));
    end();
    rm.rolled = null;
    begin();
    awaitState("open");
    assertEquals(2, rm.registrations());
    assertEquals(second, Files.readString(kept));
    master.end(FinalApplicationStatus.SUCCEEDED, "done");
    awaitState("closed");
    awaitThat("it is forgotten", () -> !Files.exists(kept));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Without the token nobody can register, and that is said. */
  @Test
  public void aTokenThatIsLost() throws IOException, InterruptedException {
    begin();
    awaitState("open");
    end();
    Files.delete(folder.getRoot().toPath().resolve("tokens").resolve(submitted.get(0).getApplicationId().toString()));
    begin();
    awaitThat("it is said", () -> stands().path("why").asText().contains("was lost"));
    assertEquals(1, rm.registrations());
  }

  /** One that its node does not know was never started, and is given back; one that has ended there is over. */
  @Test
  public void whatIsFoundIsAskedFor() throws IOException, InterruptedException {
    known.add(report(ApplicationId.newInstance(1, 9), YarnApplicationState.RUNNING, Set.of("me", "t5")));
    rm.left.add(FakeRM.container(5, Entry.number(3, 0), "n1", 1));
    nodeFault = new YarnException("what container?");
    begin();
    awaitThat("it is given back", () -> rm.was("release 5"));
    assertTrue(stands().toString(), stands().toString().contains("what container?"));
    end();
    nodeFault = null;
    found = ContainerState.COMPLETE;
    begin();
    awaitThat("it is over", () -> stateOf(0).equals("over"));
    assertEquals(9, stands().path("containers").path(0).path("exit").asInt());
  }

  /** A node that does not start a container has it taken away. */
  @Test
  public void whatDoesNotStartIsGivenBack() throws IOException, InterruptedException {
    begin();
    start();
    nodeFault = new YarnException("no room");
    awaitThat("it has asked", () -> rm.was("ask " + Entry.number(3, 0) + " n1"));
    rm.grant(FakeRM.container(5, Entry.number(3, 0), "n1", 1));
    awaitThat("it is released", () -> rm.was("release 5"));
    assertTrue(stands().toString(), stands().toString().contains("no room"));
  }

  /** An attempt that the ResourceManager has given up is followed by another, which asks again; a fault that passes is not. */
  @Test
  public void itRegistersAgain() throws IOException, InterruptedException {
    begin();
    start();
    awaitThat("it has asked", () -> rm.was("ask " + Entry.number(3, 0) + " n1"));
    for (Exception e : new Exception[] {new IOException("nobody answers"), new IllegalStateException("a fault of a library's")}) {
      rm.fail(e);
      awaitThat("it has met the fault", () -> rm.fault() == null);
    }
    Thread.sleep(30);
    assertEquals(1, rm.registrations());
    synchronized (rm) {
      rm.told.clear();
      rm.fail(new ApplicationAttemptNotFoundException("gone"));
    }
    awaitThat("it is registered again", () -> rm.registrations() == 2);
    awaitThat("it has asked again", () -> rm.was("ask " + Entry.number(3, 0) + " n1"));
    awaitState("open");
    assertEquals(1, submitted.size());
  }

  /** What its queue does not let in is refused with YARN's words, until it is told to end. */
  @Test
  public void itIsRefused() throws IOException, InterruptedException {
    refusal = new YarnException("no such queue");
    begin();
    awaitState("refused");
    assertTrue(stands().path("why").asText().contains("no such queue"));
    master.end(FinalApplicationStatus.KILLED, "withdrawn");
    awaitState("closed");
  }

  /** An application that its user has killed is over, with all its containers. */
  @Test
  public void itIsKilled() throws IOException, InterruptedException {
    begin();
    start();
    awaitThat("it has asked", () -> rm.was("ask " + Entry.number(3, 0) + " n1"));
    reportOf(submitted.get(0).getApplicationId()).setYarnApplicationState(YarnApplicationState.KILLED);
    rm.fail(new ApplicationAttemptNotFoundException("gone"));
    awaitState("closed");
    for (JsonNode one : stands().path("containers")) {
      assertEquals("over", one.path("state").asText());
    }
  }

  /** One that has failed after it had run is submitted anew; one that has failed before is refused. */
  @Test
  public void aFailedOneIsSubmittedAgain() throws IOException, InterruptedException {
    known.add(report(ApplicationId.newInstance(1, 9), YarnApplicationState.RUNNING, Set.of("me", "t5")));
    begin();
    awaitState("open");
    known.get(0).setYarnApplicationState(YarnApplicationState.FAILED);
    rm.fail(new ApplicationAttemptNotFoundException("gone"));
    awaitThat("it is submitted", () -> submitted.size() == 1);
    awaitThat("it is registered again", () -> rm.registrations() == 2);
    awaitState("open");
    reportOf(submitted.get(0).getApplicationId()).setYarnApplicationState(YarnApplicationState.FAILED);
    after = YarnApplicationState.FAILED;
    rm.fail(new ApplicationAttemptNotFoundException("gone again"));
    awaitState("refused");
    assertTrue(stands().path("why").asText().contains("as told"));
    assertEquals(2, submitted.size());
    assertEquals(2, rm.registrations());
  }
}
