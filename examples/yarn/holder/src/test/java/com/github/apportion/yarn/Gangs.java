package com.github.apportion.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.NMTokenCache;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Runs jobs of fixed sizes, as users have them without a controller: a job asks for all its containers at once, wherever they
 * may be, and begins when it has them all. The tests compare elastic jobs with them. Jobs come as lines of JSON on standard
 * input, with the fields of a {@link Task}, job, queue and containers; how each has ended is a line on standard output.
 */
final class Gangs {
  /** The pause between two heartbeats of a job, in milliseconds. */
  private static final long HEARTBEAT = 250;

  private final Configuration conf = new YarnConfiguration();
  private final JsonNode order;
  private final Task task;
  private final int size;

  private Gangs(JsonNode order) {
    this.order = order;
    task = new Task(order);
    size = order.path("containers").asInt();
  }

  /**
   * Runs jobs until standard input ends.
   *
   * @param args none
   * @throws IOException if standard input cannot be read
   */
  public static void main(String[] args) throws IOException {
    PrintStream out = System.out;
    System.setOut(System.err);
    ObjectMapper json = new ObjectMapper();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Gangs job = new Gangs(json.readTree(line));
      Thread thread =
          new Thread(
              () -> {
                String how = job.end();
                synchronized (out) {
                  out.println(json.createObjectNode().put("job", job.order.path("job").asText()).put("fault", how));
                  out.flush();
                }
              });
      thread.setDaemon(true);
      thread.start();
    }
    Runtime.getRuntime().halt(0);
  }

  /** Runs the job and says what went wrong; "": nothing. */
  private String end() {
    try (YarnClient yarn = YarnClient.createYarnClient()) {
      yarn.init(conf);
      yarn.start();
      ApplicationId id = submit(yarn);
      while (yarn.getAMRMToken(id) == null) {
        Thread.sleep(HEARTBEAT);
      }
      UserGroupInformation self = UserGroupInformation.createRemoteUser(UserGroupInformation.getCurrentUser().getShortUserName());
      self.addToken(yarn.getAMRMToken(id));
      return self.doAs((PrivilegedExceptionAction<String>) this::run);
    } catch (Exception e) { // whatever it is, it is what went wrong
      return String.valueOf(e);
    }
  }

  private ApplicationId submit(YarnClient yarn) throws Exception {
    ApplicationSubmissionContext context = yarn.createApplication().getApplicationSubmissionContext();
    context.setApplicationName(order.path("job").asText());
    context.setApplicationType("GANG");
    context.setQueue(order.path("queue").asText());
    context.setUnmanagedAM(true);
    context.setAMContainerSpec(ContainerLaunchContext.newInstance(Map.of(), Map.of(), List.of(), null, null, null));
    context.setResource(Resource.newInstance(0, 0));
    return yarn.submitApplication(context);
  }

  /** Asks for all containers, starts them when all are there, and waits for their end. */
  private String run() throws Exception {
    NMTokenCache tokens = new NMTokenCache();
    try (AMRMClient<ContainerRequest> rm = AMRMClient.createAMRMClient();
        NMClient nm = NMClient.createNMClient()) {
      rm.setNMTokenCache(tokens);
      nm.setNMTokenCache(tokens);
      rm.init(conf);
      rm.start();
      nm.init(conf);
      nm.start();
      rm.registerApplicationMaster("", 0, "");
      List<ContainerRequest> asked = new ArrayList<>();
      for (int i = 0; i < size; i++) {
        asked.add(new ContainerRequest(task.demand, null, null, Priority.newInstance(1)));
        rm.addContainerRequest(asked.get(i));
      }
      List<Container> granted = new ArrayList<>();
      String fault = "";
      for (int ended = 0; ended < size; Thread.sleep(HEARTBEAT)) {
        AllocateResponse response = rm.allocate(0);
        for (Container c : response.getAllocatedContainers()) {
          if (granted.size() == size) {
            rm.releaseAssignedContainer(c.getId()); // it was granted before YARN had read that no more are wanted
            continue;
          }
          rm.removeContainerRequest(asked.get(granted.size()));
          granted.add(c);
          if (granted.size() == size) {
            startAll(nm, granted);
          }
        }
        for (ContainerStatus s : response.getCompletedContainersStatuses()) {
          if (granted.stream().anyMatch(c -> c.getId().equals(s.getContainerId()))) {
            ended++;
            fault += s.getExitStatus() == 0 ? "" : s.getDiagnostics();
          }
        }
      }
      rm.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, fault, "");
      return fault;
    }
  }

  private void startAll(NMClient nm, List<Container> all) throws Exception {
    for (int rank = 0; rank < size; rank++) {
      Container c = all.get(rank);
      Entry e = new Entry(1, rank, c.getNodeId().toString(), Entry.State.GRANTED);
      nm.startContainer(c, ContainerLaunchContext.newInstance(Map.of(), task.environmentOf(e), List.of(task.command), null, null, null));
    }
  }
}
