// Original file: proto/fxd/v1/collector.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { CollectorMessage as _fxd_v1_CollectorMessage, CollectorMessage__Output as _fxd_v1_CollectorMessage__Output } from '../../fxd/v1/CollectorMessage.ts';
import type { IngestMessage as _fxd_v1_IngestMessage, IngestMessage__Output as _fxd_v1_IngestMessage__Output } from '../../fxd/v1/IngestMessage.ts';

/**
 * What a collector and ingest say to each other: one bidirectional stream per feed.
 * Times are Unix seconds on the FEED'S clock unless the name says utc. Messages are at most 256 KiB.
 * 
 * Hello -> Welcome -> Known (parts) -> Catalogue (parts) -> Catalogued (parts), then Bars and Window
 * messages in any number. Each of those carries the next sequence and is answered by exactly one Ack,
 * which any Refused parts of that sequence precede. What the server cannot make sense of ends the
 * stream with a status that says why: NOT_FOUND (unknown feed), UNAUTHENTICATED (also when a credential
 * expires meanwhile), PERMISSION_DENIED (FOREIGN_FEED: not one the credential names), INVALID_ARGUMENT
 * (not this protocol: do not retry), FAILED_PRECONDITION (order, or a feed that is gone), ABORTED
 * (another session took over), DEADLINE_EXCEEDED (no Hello within 10 s), RESOURCE_EXHAUSTED (too many sessions,
 * or 1,000 answers were not read), UNAVAILABLE (try another ingest, or this one again with growing pauses: it
 * stops, the store is away, or for 5 s nobody could tell it whether this session leads).
 * 
 * Sequences. Every session begins with sequence 1; Bars and Window messages share one count, and each is one more
 * than the one before. A jump is refused with REFUSAL_REASON_SEQUENCE and no Ack follows: a message got lost, and
 * nothing is taken until the missing sequence comes. The last 256 sequences are remembered: the same message again
 * gets the same Ack, another one under a used sequence is refused.
 * 
 * Unacknowledged messages. An Ack means that the store has committed: keep a message until its Ack, and send it
 * again, with the revisions of its first reading, in the next session. While 64 LIVE batches, 16 BACKFILL batches
 * or 256 windows of a session wait for their Ack, ingest reads nothing more of it, heartbeats included. Stay below:
 * 12 BACKFILL batches (from there on ingest answers Slow) and 128 windows. Nothing is dropped at these bounds.
 * 
 * Heartbeats. A live session sends one every 5 s. A peer that does not answer an HTTP/2 ping for 5 s is cut off.
 */
export interface CollectorClient extends grpc.Client {
  /**
   * The first message is Hello, the first answer Welcome. Needs `authorization: Bearer <token>` metadata
   * with a token that names the feed, or a client certificate with the URI fxd://feed/BROKER:ACCOUNT.
   */
  Session(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  Session(options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  /**
   * The first message is Hello, the first answer Welcome. Needs `authorization: Bearer <token>` metadata
   * with a token that names the feed, or a client certificate with the URI fxd://feed/BROKER:ACCOUNT.
   */
  session(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  session(options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  
}

/**
 * What a collector and ingest say to each other: one bidirectional stream per feed.
 * Times are Unix seconds on the FEED'S clock unless the name says utc. Messages are at most 256 KiB.
 * 
 * Hello -> Welcome -> Known (parts) -> Catalogue (parts) -> Catalogued (parts), then Bars and Window
 * messages in any number. Each of those carries the next sequence and is answered by exactly one Ack,
 * which any Refused parts of that sequence precede. What the server cannot make sense of ends the
 * stream with a status that says why: NOT_FOUND (unknown feed), UNAUTHENTICATED (also when a credential
 * expires meanwhile), PERMISSION_DENIED (FOREIGN_FEED: not one the credential names), INVALID_ARGUMENT
 * (not this protocol: do not retry), FAILED_PRECONDITION (order, or a feed that is gone), ABORTED
 * (another session took over), DEADLINE_EXCEEDED (no Hello within 10 s), RESOURCE_EXHAUSTED (too many sessions,
 * or 1,000 answers were not read), UNAVAILABLE (try another ingest, or this one again with growing pauses: it
 * stops, the store is away, or for 5 s nobody could tell it whether this session leads).
 * 
 * Sequences. Every session begins with sequence 1; Bars and Window messages share one count, and each is one more
 * than the one before. A jump is refused with REFUSAL_REASON_SEQUENCE and no Ack follows: a message got lost, and
 * nothing is taken until the missing sequence comes. The last 256 sequences are remembered: the same message again
 * gets the same Ack, another one under a used sequence is refused.
 * 
 * Unacknowledged messages. An Ack means that the store has committed: keep a message until its Ack, and send it
 * again, with the revisions of its first reading, in the next session. While 64 LIVE batches, 16 BACKFILL batches
 * or 256 windows of a session wait for their Ack, ingest reads nothing more of it, heartbeats included. Stay below:
 * 12 BACKFILL batches (from there on ingest answers Slow) and 128 windows. Nothing is dropped at these bounds.
 * 
 * Heartbeats. A live session sends one every 5 s. A peer that does not answer an HTTP/2 ping for 5 s is cut off.
 */
export interface CollectorHandlers extends grpc.UntypedServiceImplementation {
  /**
   * The first message is Hello, the first answer Welcome. Needs `authorization: Bearer <token>` metadata
   * with a token that names the feed, or a client certificate with the URI fxd://feed/BROKER:ACCOUNT.
   */
  Session: grpc.handleBidiStreamingCall<_fxd_v1_CollectorMessage__Output, _fxd_v1_IngestMessage>;
  
}

export interface CollectorDefinition extends grpc.ServiceDefinition {
  Session: MethodDefinition<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage, _fxd_v1_CollectorMessage__Output, _fxd_v1_IngestMessage__Output>
}
