// This file implements writing: records as transactions that only the leader can do.

package etcdjournal

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
)

// Append makes a record durable; an empty one costs nothing. After any error the journal takes nothing more, and the machine
// must be thrown away: the record may be durable or not, Open will tell. The error wraps checkpoint.ErrFenced if another
// leads, and ErrNoAnswer if etcd does not answer.
func (j *Journal) Append(r checkpoint.Record) error {
	if j.err == nil && !r.Empty() {
		j.err = j.put(r, false)
	}
	return j.err
}

// Compact replaces the journal by one that begins with a snapshot of the machine. Its errors are those of Append.
func (j *Journal) Compact(snapshot checkpoint.Record) error {
	if j.err == nil {
		j.err = j.put(snapshot, true)
	}
	return j.err
}

// Bytes returns the length of the journal since the newest snapshot, that included.
func (j *Journal) Bytes() int64 { return j.bytes }

// Close gives the leadership up, so that who stands in line follows at once. What was appended is durable already.
func (j *Journal) Close() error {
	if j.err == nil {
		j.err = fs.ErrClosed
	}
	j.end()
	ctx, cancel := context.WithTimeout(context.Background(), j.options.Limit)
	defer cancel()
	// The lease takes the key along. Where etcd does not answer it ends by itself.
	j.session.Orphan()
	_, err := j.client.Revoke(ctx, j.session.Lease())
	if err != nil {
		return fmt.Errorf("etcdjournal: %w", err)
	}
	return nil
}

// put writes a record; one that is a snapshot takes the place of all before it.
func (j *Journal) put(r checkpoint.Record, snapshot bool) error {
	payload, err := journal.Encode(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), j.options.Limit)
	defer cancel()
	value, err := j.value(ctx, payload)
	if err != nil {
		return err
	}
	key, number := j.keys.record(j.next), j.next
	then := []clientv3.Op{clientv3.OpPut(key, value)}
	if snapshot {
		// The head and what it makes void change in one step.
		then = append(then, clientv3.OpPut(j.keys.head(), digits(number)),
			clientv3.OpDelete(j.keys.record(0), clientv3.WithRange(key)),
			clientv3.OpDelete(j.keys.pieces(0), clientv3.WithRange(j.keys.pieces(number))))
	}
	absent := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)}
	if err := j.do(ctx, absent, key, value, then); err != nil {
		return err
	}
	j.next++
	j.bytes += int64(len(payload))
	if snapshot {
		j.bytes = int64(len(payload))
	}
	return nil
}

// value returns what stands under the key of a record: the payload, or, where that is long, the number of its pieces, which
// are written first. Pieces of a record that does not follow are void.
func (j *Journal) value(ctx context.Context, payload []byte) (string, error) {
	if len(payload) <= maxPiece {
		return string(payload), nil
	}
	count := 0
	for ; len(payload) > 0; count++ {
		piece := payload[:min(len(payload), maxPiece)]
		payload = payload[len(piece):]
		key := j.keys.piece(j.next, count)
		// A piece of a record that never came may be there: it is void, and written over.
		if err := j.do(ctx, nil, key, string(piece), []clientv3.Op{clientv3.OpPut(key, string(piece))}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf(inPieces, count), nil
}

// do does operations that write a value under a key, if this master still leads and what else must hold does. It tries again
// until the context ends, for a cluster that chooses another leader of its own gives no answer for a second; what must hold
// says that it counts once.
func (j *Journal) do(ctx context.Context, must []clientv3.Cmp, key, value string, then []clientv3.Op) error {
	must = append(must, clientv3.Compare(clientv3.CreateRevision(j.lead.Key()), "=", j.lead.Rev()))
	for {
		// A try has a part of the time, so that one that a member leaves unanswered is not the last.
		try, cancel := context.WithTimeout(ctx, j.options.Limit/tries)
		answer, err := j.client.Txn(clientv3.WithRequireLeader(try)).If(must...).Then(then...).
			Else(clientv3.OpGet(key), clientv3.OpGet(j.lead.Key())).Commit()
		cancel()
		if err == nil {
			if answer.Succeeded || j.counted(answer, value) {
				return nil
			}
			return fmt.Errorf("etcdjournal: epoch %d leads no more: %w", j.lead.Rev(), checkpoint.ErrFenced)
		}
		if hopeless(err) {
			return fmt.Errorf("etcdjournal: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w within %v: %w", ErrNoAnswer, j.options.Limit, err)
		case <-time.After(pause):
		}
	}
}

// counted reports whether a transaction was refused because it had counted before, when its answer was lost. Nobody but the
// leader can have written under its key.
func (j *Journal) counted(answer *clientv3.TxnResponse, value string) bool {
	at, lead := answer.Responses[0].GetResponseRange().Kvs, answer.Responses[1].GetResponseRange().Kvs
	return len(at) == 1 && string(at[0].Value) == value && len(lead) == 1 && lead[0].CreateRevision == j.lead.Rev()
}
