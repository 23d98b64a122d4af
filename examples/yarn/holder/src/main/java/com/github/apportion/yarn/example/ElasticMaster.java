package com.github.apportion.yarn.example;

import com.github.apportion.yarn.Follower;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * A managed application master that holds what a controller decides: it runs in a container of its own, on the connections
 * that every master has. Its own work would go where the loop of {@link #main} is.
 */
public final class ElasticMaster implements Follower.Work {
  /** The pause between two heartbeats, in milliseconds. */
  private static final long HEARTBEAT = 250;

  private final NMClient nm;
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private Follower follower;

  private ElasticMaster(NMClient nm) {
    this.nm = nm;
  }

  /**
   * Runs the master.
   *
   * @param args the folder of the controller's for masters
   * @throws IOException if a connection, or the folder, cannot be used
   * @throws YarnException if the ResourceManager refuses something
   * @throws InterruptedException never
   */
  public static void main(String[] args) throws IOException, YarnException, InterruptedException {
    YarnConfiguration conf = new YarnConfiguration();
    ContainerId self = ContainerId.fromString(System.getenv(ApplicationConstants.Environment.CONTAINER_ID.name()));
    try (AMRMClient<ContainerRequest> rm = AMRMClient.createAMRMClient();
        NMClient nm = NMClient.createNMClient()) {
      rm.init(conf);
      rm.start();
      nm.init(conf);
      // What runs goes on when this master dies: the next one takes it over.
      nm.cleanupRunningContainersOnStop(false);
      nm.start();
      ElasticMaster master = new ElasticMaster(nm);
      master.follower = new Follower(Path.of(args[0]), self.getApplicationAttemptId().getApplicationId(), conf, rm, master);
      master.run(rm);
    }
  }

  private void run(AMRMClient<ContainerRequest> rm) throws IOException, YarnException, InterruptedException {
    follower.registered(rm.registerApplicationMaster("", 0, "").getContainersFromPreviousAttempts());
    while (follower.ending() == null) {
      try {
        follower.follow();
      } catch (IOException e) {
        System.err.println("Orders are read again: " + e); // a folder that is not mounted may be so again
      }
      AllocateResponse response = rm.allocate(0.5f);
      follower.granted(response.getAllocatedContainers());
      follower.completed(response.getCompletedContainersStatuses());
      // Nodes are asked after the heartbeat that has brought their tokens.
      for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
        next.run();
      }
      Thread.sleep(HEARTBEAT);
    }
    rm.unregisterApplicationMaster(follower.ending(), follower.why(), "");
  }

  @Override
  public void start(Container container, ContainerLaunchContext context) {
    waiting.add(
        () -> {
          try {
            nm.startContainer(container, context);
            follower.started(container);
          } catch (YarnException | IOException e) {
            follower.failed(container, "its node has not started it: " + e.getMessage());
          }
        });
  }

  @Override
  public void find(Container container) {
    waiting.add(
        () -> {
          try {
            ContainerStatus status = nm.getContainerStatus(container.getId(), container.getNodeId());
            if (status.getState() == ContainerState.COMPLETE) {
              follower.completed(List.of(status));
            }
          } catch (YarnException e) {
            follower.failed(container, "its node does not know it: " + e.getMessage());
          } catch (IOException e) {
            // The node does not answer. Should it be lost, the ResourceManager will say so.
          }
        });
  }
}
