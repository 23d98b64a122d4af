package com.github.apportion.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.junit.Test;

/** Tests what is remembered of the containers of an application. */
public class BookTest {
  private static final ApplicationAttemptId ATTEMPT = ApplicationAttemptId.newInstance(ApplicationId.newInstance(1, 1), 1);

  private static Container container(long id, long number, String host, int port) {
    Container c =
        Container.newInstance(
            ContainerId.newContainerId(ATTEMPT, id),
            NodeId.newInstance(host, port),
            host + ":80",
            Resource.newInstance(128, 1),
            Priority.newInstance(1),
            null);
    c.setAllocationRequestId(number);
    return c;
  }

  private static Book asked(int containers) {
    Book book = new Book();
    assertTrue(book.begin(3));
    for (int rank = 0; rank < containers; rank++) {
      book.want(rank, "n1:1");
    }
    for (Entry e : book.in(Entry.State.WANTED)) {
      e.state = Entry.State.ASKED;
    }
    return book;
  }

  /** Attempt and rank come back from the number that YARN keeps with a container. */
  @Test
  public void numbersAreReadBack() {
    for (long attempt : new long[] {1, 7, 1L << 40}) {
      for (int rank : new int[] {0, 1, (1 << 20) - 1}) {
        long number = Entry.number(attempt, rank);
        assertEquals(attempt, Entry.attemptOf(number));
        assertEquals(rank, Entry.rankOf(number));
      }
    }
  }

  /** An attempt is asked for once, and none that is below one that was asked for or stopped. */
  @Test
  public void anAttemptBeginsOnce() {
    Book book = new Book();
    assertTrue(book.begin(2));
    assertFalse(book.begin(2));
    assertFalse(book.begin(1));
    book.stop(5);
    assertFalse(book.begin(5));
    assertTrue(book.begin(6));
  }

  /** What was not asked for is given back: of another attempt, on another server, a second time, or stopped meanwhile. */
  @Test
  public void onlyWhatWasAskedForIsKept() {
    Book book = asked(2);
    assertNull(book.grant(container(1, Entry.number(2, 0), "n1", 1)));
    assertNull(book.grant(container(2, Entry.number(3, 0), "n2", 1)));
    assertNull(book.grant(container(3, Entry.number(3, 0), "n1", 2)));
    Entry first = book.grant(container(4, Entry.number(3, 0), "n1", 1));
    assertNotNull(first);
    assertEquals(Entry.State.GRANTED, first.state);
    assertNull(book.grant(container(5, Entry.number(3, 0), "n1", 1)));
    assertEquals(2, book.stop(3).size());
    assertNull(book.grant(container(6, Entry.number(3, 1), "n1", 1)));
  }

  /** The first word on how a container ended counts. */
  @Test
  public void theFirstEndCounts() {
    Book book = asked(1);
    Container c = container(4, Entry.number(3, 0), "n1", 1);
    Entry e = book.grant(c);
    book.over(c.getId(), -100, "its node is lost");
    book.over(c.getId(), 0, "well");
    assertEquals(Entry.State.OVER, e.state);
    assertEquals(-100, e.exit);
    assertEquals(List.of(), book.stop(3));
    assertEquals(3, book.stopped());
  }

  /** A stop is about attempts up to one, and what runs of later ones runs on. */
  @Test
  public void laterAttemptsAreNotStopped() {
    Book book = asked(1);
    assertEquals(List.of(), book.stop(2));
    assertEquals(1, book.in(Entry.State.ASKED).size());
  }

  /** What a holder before has left is known by its number, and no attempt of it is asked for again. */
  @Test
  public void whatIsFoundIsAdopted() {
    Book book = new Book();
    Container c = container(9, Entry.number(4, 2), "n3", 7);
    Entry e = book.adopt(c);
    assertEquals(4, e.attempt);
    assertEquals(2, e.rank);
    assertEquals("n3:7", e.server);
    assertEquals(Entry.State.STARTED, e.state);
    assertNull(book.adopt(c));
    assertFalse(book.begin(4));
    assertTrue(book.begin(5));
    assertSame(e, book.stop(4).get(0));
  }

  /** What was granted and is not found any more is over; what was only asked for is not. */
  @Test
  public void whatIsNotFoundIsOver() {
    Book book = asked(3);
    Container kept = container(4, Entry.number(3, 0), "n1", 1);
    Entry first = book.grant(kept);
    Entry second = book.grant(container(5, Entry.number(3, 1), "n1", 1));
    book.keepOnly(List.of(kept));
    assertEquals(Entry.State.GRANTED, first.state);
    assertEquals(Entry.State.OVER, second.state);
    assertEquals(1, book.in(Entry.State.ASKED).size());
    book.gone("the application is gone");
    assertEquals(3, book.in(Entry.State.OVER).size());
    assertTrue(book.begin(4));
    assertTrue(book.entries().isEmpty());
  }
}
