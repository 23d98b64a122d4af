// This file implements Open: it waits for the leadership, and takes the journal over from the master before.

package etcdjournal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/journal"
)

// Open waits until this master leads, which may take for ever, and returns the machine of the journal that it takes over, or
// begins. What would refuse to be recovered is refused at once, and disturbs nobody. The client is the caller's, and is to be
// closed after the journal.
//
// The error wraps checkpoint.ErrCorrupt if the records are not whole, checkpoint.ErrFenced if the leadership was lost
// meanwhile, ErrNoAnswer, or is the context's. Faults of Config and Options come back as [apportion.Faults].
func Open(ctx context.Context, client *clientv3.Client, config checkpoint.Config, options *Options) (*checkpoint.Machine, *Journal, error) {
	if err := config.Validate(); err != nil {
		return nil, nil, err
	}
	o := Options{}
	if options != nil {
		o = *options
	}
	if err := o.fill(); err != nil {
		return nil, nil, err
	}
	j := &Journal{client: client, keys: keys(o.Prefix), options: o}
	// A Config that the records do not fit must not stand in line, and be in the way of a better one when its turn comes.
	if _, err := j.recover(ctx, config, 1); err != nil {
		return nil, nil, err
	}
	if err := j.campaign(ctx); err != nil {
		return nil, nil, err
	}
	m, err := j.recover(ctx, config, j.lead.Rev())
	if err == nil {
		err = j.begin(ctx)
	}
	if err == nil {
		// The first transaction shows that this master leads still. From here on it is the one who writes.
		err = j.Compact(m.Snapshot())
	}
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return m, j, nil
}

func (j *Journal) campaign(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, j.options.Limit)
	defer cancel()
	grant, err := j.client.Grant(limited, int64(j.options.Lease/time.Second))
	if err != nil {
		return j.explain(ctx, err)
	}
	// The session renews the lease until it is closed: it must outlive this call.
	alive := clientv3.WithRequireLeader(j.client.Ctx())
	j.session, err = concurrency.NewSession(j.client, concurrency.WithLease(grant.ID), concurrency.WithContext(alive))
	if err != nil {
		return j.explain(ctx, err)
	}
	j.lead = concurrency.NewElection(j.session, j.keys.leader())
	if err := j.lead.Campaign(ctx, j.options.Name); err != nil {
		return errors.Join(j.explain(ctx, err), j.Close())
	}
	return nil
}

// recover reads all records and returns the machine that they tell of, with an epoch.
func (j *Journal) recover(ctx context.Context, config checkpoint.Config, epoch int64) (*checkpoint.Machine, error) {
	limited, cancel := context.WithTimeout(ctx, j.options.Limit)
	defer cancel()
	records, err := j.read(limited)
	for errors.Is(err, rpctypes.ErrCompacted) {
		// etcd has compacted its history while it was read, which takes a writer: there is a newer one.
		records, err = j.read(limited)
	}
	if errors.Is(err, checkpoint.ErrCorrupt) {
		return nil, err
	}
	if err != nil {
		return nil, j.explain(ctx, err)
	}
	// A journal that begins gets a name that no other has.
	if len(records) == 0 {
		records = []checkpoint.Record{{Journal: rand.Text()}}
	}
	return checkpoint.Recover(config, epoch, records...)
}

// read returns the records from the newest snapshot on, all of one revision.
func (j *Journal) read(ctx context.Context) ([]checkpoint.Record, error) {
	head, err := j.client.Get(ctx, j.keys.head())
	if err != nil {
		return nil, err
	}
	j.bytes, j.next = 0, 1
	if len(head.Kvs) == 0 {
		return nil, nil
	}
	if j.next, err = strconv.ParseInt(string(head.Kvs[0].Value), 10, 64); err != nil {
		return nil, fmt.Errorf("etcdjournal: %s: %w: %w", j.keys.head(), err, checkpoint.ErrCorrupt)
	}
	var records []checkpoint.Record
	end := clientv3.GetPrefixRangeEnd(j.keys.records())
	for {
		got, err := j.client.Get(ctx, j.keys.record(j.next), clientv3.WithRange(end), clientv3.WithRev(head.Header.Revision), clientv3.WithLimit(page))
		if err != nil {
			return nil, err
		}
		for _, kv := range got.Kvs {
			record, err := j.decode(ctx, string(kv.Key), kv.Value, head.Header.Revision)
			if err != nil {
				return nil, err
			}
			records = append(records, record)
		}
		if !got.More {
			break
		}
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("etcdjournal: %s is not there: %w", j.keys.record(j.next), checkpoint.ErrCorrupt)
	}
	return records, nil
}

func (j *Journal) decode(ctx context.Context, key string, value []byte, revision int64) (checkpoint.Record, error) {
	corrupt := func(err error) (checkpoint.Record, error) {
		return checkpoint.Record{}, fmt.Errorf("etcdjournal: %s: %w: %w", key, err, checkpoint.ErrCorrupt)
	}
	if number, ok := j.keys.number(key); !ok || number != j.next {
		return corrupt(fmt.Errorf("record %d was expected", j.next))
	}
	var count int
	if n, _ := fmt.Sscanf(string(value), inPieces, &count); n == 1 {
		// Nothing writes under these keys any more, but all is read at one revision, so that a compaction does not show.
		value = nil
		for index := range count {
			piece, err := j.client.Get(ctx, j.keys.piece(j.next, index), clientv3.WithRev(revision))
			if err != nil {
				return checkpoint.Record{}, err
			}
			if len(piece.Kvs) == 0 {
				return corrupt(fmt.Errorf("piece %d of %d is not there", index, count))
			}
			value = append(value, piece.Kvs[0].Value...)
		}
	}
	record, err := journal.Decode(value)
	if err != nil {
		return corrupt(err)
	}
	j.next++
	j.bytes += int64(len(value))
	return record, nil
}
