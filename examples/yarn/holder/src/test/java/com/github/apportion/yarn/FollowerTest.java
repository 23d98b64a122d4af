package com.github.apportion.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Tests what a master of a user's own is had to do by files. */
public class FollowerTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The folder of masters. */
  @Rule public final TemporaryFolder masters = new TemporaryFolder();

  private final List<String> done = new ArrayList<>();
  private final FakeRM rm = new FakeRM();
  private Path folder;

  private final Follower.Work work =
      new Follower.Work() {
        @Override
        public void start(Container container, ContainerLaunchContext context) {
          done.add("start " + container.getId().getContainerId() + " " + context.getCommands() + context.getEnvironment().get("R"));
        }

        @Override
        public void find(Container container) {
          done.add("find " + container.getId().getContainerId());
        }

        @Override
        public void stop(Container container) {
          done.add("stop " + container.getId().getContainerId());
        }
      };

  @Before
  public void makeFolder() throws IOException {
    folder = masters.getRoot().toPath().resolve(FakeRM.APPLICATION.toString());
    Files.createDirectories(folder.resolve(Follower.TOLD));
  }

  private Follower follower() throws IOException {
    return new Follower(masters.getRoot().toPath(), FakeRM.APPLICATION, new Configuration(false), rm, work);
  }

  private void order(String text) throws IOException {
    Files.writeString(folder.resolve(Follower.ORDERS), text);
  }

  private JsonNode answer() throws IOException {
    return JSON.readTree(folder.resolve(Follower.TOLD).resolve(Follower.ANSWER).toFile());
  }

  /** Without orders nothing is asked for, and nothing is said: the controller does not know the application yet. */
  @Test
  public void nothingIsSaidUnasked() throws IOException {
    follower().follow();
    assertEquals(List.of(), rm.told);
    assertEquals(0, Files.list(folder.resolve(Follower.TOLD)).count());
  }

  /** A run is asked for, started, stopped and ended as ordered; what is the master's own is left to it. */
  @Test
  public void ordersAreFollowed() throws IOException {
    order("{\"job\":\"lr\",\"stop\":0}");
    Follower follower = follower();
    assertEquals(List.of(), follower.registered(List.of()));
    follower.follow();
    assertEquals("open", answer().path("state").asText());
    order("{\"run\":" + RequestsTest.run(3, RequestsTest.THREE) + ",\"stop\":2}");
    follower.follow();
    follower.follow();
    assertEquals(3, rm.told.size());
    assertEquals(3, answer().path("begun").asLong());
    Container mine = FakeRM.container(5, Entry.number(3, 2), "n2", 1);
    Container own = FakeRM.container(6, 7, "n3", 1);
    assertEquals(List.of(own), follower.granted(List.of(mine, own)));
    assertEquals(List.of("start 5 [exec x]2"), done);
    follower.started(mine);
    follower.started(own);
    follower.follow();
    assertEquals("started", answer().path("containers").path(2).path("state").asText());
    assertNull(follower.ending());
    order("{\"run\":" + RequestsTest.run(3, RequestsTest.THREE) + ",\"stop\":3,\"status\":\"KILLED\",\"why\":\"withdrawn\"}");
    follower.follow();
    assertTrue(done.toString(), done.contains("stop 5"));
    assertTrue(rm.told.toString(), rm.was("release 5"));
    assertEquals(3, answer().path("stopped").asLong());
    assertEquals(FinalApplicationStatus.KILLED, follower.ending());
    assertEquals("withdrawn", follower.why());
  }

  /** The next attempt of an application looks for what is there, and never asks for a run that was asked for before. */
  @Test
  public void aRunIsAskedForOnce() throws IOException {
    order("{\"run\":" + RequestsTest.run(3, RequestsTest.THREE) + ",\"stop\":0}");
    Follower first = follower();
    first.registered(List.of());
    first.follow();
    Container mine = FakeRM.container(5, Entry.number(3, 2), "n2", 1);
    first.granted(List.of(mine));
    rm.told.clear();
    Follower second = follower();
    Container own = FakeRM.container(6, 7, "n3", 1);
    assertEquals(List.of(own), second.registered(List.of(own, mine)));
    assertTrue(done.toString(), done.contains("find 5"));
    second.follow();
    assertEquals(List.of(), rm.told);
    assertEquals(1, answer().path("containers").size());
    second.failed(mine, "its node does not know it");
    second.follow();
    assertEquals(List.of("release 5"), rm.told);
    // Without a container left it does not ask either; the controller sees that, and orders another run.
    rm.told.clear();
    Follower third = follower();
    third.registered(List.of());
    third.follow();
    assertEquals(List.of(), rm.told);
    order("{\"run\":" + RequestsTest.run(4, "[{\"server\":\"n1:1\",\"first\":0,\"count\":1}]") + ",\"stop\":3}");
    third.follow();
    assertEquals(List.of("ask " + Entry.number(4, 0) + " n1"), rm.told);
  }

  /** How a container has ended is told, whoever says so. */
  @Test
  public void endsAreTold() throws IOException {
    order("{\"run\":" + RequestsTest.run(3, RequestsTest.THREE) + ",\"stop\":0}");
    Follower follower = follower();
    follower.registered(List.of());
    follower.follow();
    Container mine = FakeRM.container(5, Entry.number(3, 0), "n1", 1);
    follower.granted(List.of(mine));
    follower.completed(List.of(FakeRM.ended(mine, -100, "lost"), FakeRM.ended(FakeRM.container(6, 7, "n3", 1), 0, "")));
    follower.follow();
    JsonNode one = answer().path("containers").path(0);
    assertEquals("over", one.path("state").asText());
    assertEquals(-100, one.path("exit").asInt());
  }
}
