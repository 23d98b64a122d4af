package com.github.apportion.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.Test;

/** Tests what is asked of a ResourceManager and told to it. */
public class RequestsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  static JsonNode run(long attempt, String parts) throws IOException {
    return JSON.readTree(
        "{\"attempt\":" + attempt + ",\"memory\":500,\"vcores\":1,\"command\":\"exec x\",\"server_variable\":\"S\",\"rank_variable\":\"R\",\"parts\":" + parts + "}");
  }

  static final String THREE = "[{\"server\":\"n1:1\",\"first\":0,\"count\":1},{\"server\":\"n2:1\",\"first\":1,\"count\":2}]";

  private static Requests started(Configuration conf) throws IOException {
    Requests requests = new Requests(conf);
    JsonNode run = run(3, THREE);
    requests.start(3, new Task(run), run.path("parts"));
    return requests;
  }

  private static ObjectNode told(Requests requests) {
    ObjectNode answer = JSON.createObjectNode();
    requests.tell(answer, true);
    return answer;
  }

  /** Each container is asked for on its own server alone, once, under its own number. */
  @Test
  public void eachIsAskedForOnItsServer() throws IOException {
    FakeRM rm = new FakeRM();
    Requests requests = started(new Configuration(false));
    assertTrue(requests.hasNews());
    requests.ask(rm);
    requests.ask(rm);
    assertFalse(requests.hasNews());
    assertEquals(List.of("ask " + Entry.number(3, 0) + " n1", "ask " + Entry.number(3, 1) + " n2", "ask " + Entry.number(3, 2) + " n2"), rm.told);
    Configuration ports = new Configuration(false);
    ports.setBoolean(YarnConfiguration.RM_SCHEDULER_INCLUDE_PORT_IN_NODE_NAME, true);
    FakeRM other = new FakeRM();
    started(ports).ask(other);
    assertTrue(other.told.toString(), other.was("ask " + Entry.number(3, 0) + " n1:1"));
  }

  /** What is granted is started with its run's task; what was not asked for, or comes twice, is released. */
  @Test
  public void whatWasNotAskedForIsReleased() throws IOException {
    FakeRM rm = new FakeRM();
    Requests requests = started(new Configuration(false));
    requests.ask(rm);
    Container mine = FakeRM.container(5, Entry.number(3, 1), "n2", 1);
    Requests.Start start = requests.granted(rm, mine);
    assertEquals(1, start.entry.rank);
    assertEquals("exec x", start.task.command);
    assertTrue(rm.was("take back " + Entry.number(3, 1)));
    assertNull(requests.granted(rm, FakeRM.container(6, Entry.number(3, 1), "n2", 1)));
    assertNull(requests.granted(rm, FakeRM.container(7, Entry.number(2, 0), "n1", 1)));
    assertTrue(rm.told.toString(), rm.was("release 6") && rm.was("release 7") && !rm.was("release 5"));
    requests.started(start.entry);
    assertEquals("started", told(requests).path("containers").path(1).path("state").asText());
    assertNotNull(requests.find(mine));
    assertNull(requests.find(FakeRM.container(6, Entry.number(3, 1), "n2", 1)));
  }

  /** A stop releases what was granted and takes back what was asked for, with the next heartbeat and once. */
  @Test
  public void aStopGivesAllBack() throws IOException {
    FakeRM rm = new FakeRM();
    Requests requests = started(new Configuration(false));
    requests.ask(rm);
    requests.granted(rm, FakeRM.container(5, Entry.number(3, 0), "n1", 1));
    rm.told.clear();
    assertEquals(3, requests.stop(3).size());
    assertTrue(requests.hasNews());
    requests.ask(rm);
    requests.ask(rm);
    assertEquals(List.of("release 5", "take back " + Entry.number(3, 1), "take back " + Entry.number(3, 2)), rm.told);
    assertEquals(3, told(requests).path("stopped").asLong());
  }

  /** One that did not start is released, and is over with the reason; a late word that it has started is no word. */
  @Test
  public void whatFailsIsReleased() throws IOException {
    FakeRM rm = new FakeRM();
    Requests requests = started(new Configuration(false));
    requests.ask(rm);
    Entry e = requests.granted(rm, FakeRM.container(5, Entry.number(3, 0), "n1", 1)).entry;
    requests.failed(e, "no room");
    requests.started(e);
    requests.ask(rm);
    assertTrue(rm.was("release 5"));
    JsonNode one = told(requests).path("containers").path(0);
    assertEquals("over", one.path("state").asText());
    assertEquals("no room", one.path("why").asText());
  }

  /** With a new attempt of the application what was asked for is asked for again, and what is found is known. */
  @Test
  public void aNewAttemptAsksAgain() throws IOException {
    FakeRM rm = new FakeRM();
    Requests requests = started(new Configuration(false));
    requests.ask(rm);
    Container kept = FakeRM.container(5, Entry.number(3, 0), "n1", 1);
    requests.granted(rm, kept);
    Container old = FakeRM.container(2, Entry.number(2, 0), "n9", 1);
    List<Entry> unknown = requests.takeOver(List.of(kept, old));
    assertEquals(1, unknown.size());
    assertEquals(2, unknown.get(0).attempt);
    rm.told.clear();
    requests.ask(rm);
    assertEquals(List.of("ask " + Entry.number(3, 1) + " n2", "ask " + Entry.number(3, 2) + " n2"), rm.told);
    requests.completed(FakeRM.ended(kept, 7, "crashed"));
    assertEquals(7, told(requests).path("containers").path(1).path("exit").asInt());
    requests.gone("killed");
    for (JsonNode one : told(requests).path("containers")) {
      assertEquals("over", one.path("state").asText());
    }
  }
}
