// Original file: proto/fxd/v1/collector.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { CollectorMessage as _fxd_v1_CollectorMessage, CollectorMessage__Output as _fxd_v1_CollectorMessage__Output } from '../../fxd/v1/CollectorMessage.ts';
import type { IngestMessage as _fxd_v1_IngestMessage, IngestMessage__Output as _fxd_v1_IngestMessage__Output } from '../../fxd/v1/IngestMessage.ts';

/**
 * The protocol between a collector and ingest: one bidirectional stream per feed.
 * Times are Unix seconds on the FEED'S clock unless the name says utc. Messages are at most 256 KiB, and not
 * compressed.
 * 
 * Hello -> Welcome -> Known (parts) -> Catalogue (parts) -> Catalogued (parts), then Bars and Window
 * messages in any number. Each of those carries the next sequence. Ingest answers it with exactly one Ack, after
 * any Refused parts of that sequence. A message that ingest cannot process ends the stream with one of these statuses:
 * - NOT_FOUND: unknown feed.
 * - UNAUTHENTICATED: a missing or invalid credential, or one that expired during the session.
 * - PERMISSION_DENIED (FOREIGN_FEED): the credential does not name the feed.
 * - INVALID_ARGUMENT: a violation of this protocol; do not retry.
 * - UNIMPLEMENTED: a compressed message, or an unknown method; do not retry.
 * - FAILED_PRECONDITION: wrong order of messages, or a removed feed.
 * - ABORTED: another session took over.
 * - DEADLINE_EXCEEDED: no Hello within 10 s.
 * - RESOURCE_EXHAUSTED: too many sessions, or 512 KiB of unread answers of which none was read for 60 s.
 * - UNAVAILABLE: ingest stops, the store was replaced, a lost table is in order again, the manifest of the feed was
 * changed, windows were withdrawn, or ingest did not learn for 5 s whether this session has the feed's lease. Retry with another ingest, or
 * with this one after increasing pauses.
 * While the store is unavailable a session goes on: its Acks wait, and its live bars are pushed.
 * 
 * Sequences. Every session starts with sequence 1. Bars and Window messages share one count, which increases by one
 * per message. A message that skips a sequence is refused with REFUSAL_REASON_SEQUENCE and gets no Ack.
 * Ingest then accepts nothing until the missing sequence arrives. Ingest remembers the last 256 sequences: a repeated
 * message gets the same Ack, and another message with a used sequence is refused.
 * 
 * Unacknowledged messages. An Ack means that the store has committed, and waits as long as the store does. Acks of one
 * resolution keep the order of their messages; those of different resolutions do not wait for each other. So send LIVE
 * bars of each resolution in messages of their own. Keep each message until its Ack. In the next session, send every
 * message without an Ack again, with the revisions of its first reading; ingest neither stores nor pushes it twice.
 * Ingest stops reading a session, heartbeats included, while one of these is true:
 * - its feed has Welcome.unacked_bars_max live bars without an Ack;
 * - the session has 16 BACKFILL batches or 256 windows without an Ack. Stay below: at most 11 batches (at 12 ingest
 * sends Slow) and 127 windows;
 * - more than 512 KiB of its answers are unread;
 * - 5,000 refusals of LIVE batches wait for their Ack;
 * - more than 64 MiB of all feeds wait for the store, and its feed has at least an equal share of them;
 * - fewer than 100 ms have passed since 20 heartbeats and clock samples.
 * Nothing is dropped. While ingest does not read, the connection counts as heartbeat.
 * 
 * Heartbeats. A live session sends a Heartbeat every 5 s. A peer that does not answer an HTTP/2 ping within 5 s is
 * disconnected.
 */
export interface CollectorClient extends grpc.Client {
  /**
   * The first message is Hello, the first answer Welcome. Requires `authorization: Bearer <token>` metadata
   * with a token that names the feed, or a client certificate with the URI fxd://feed/BROKER:ACCOUNT.
   */
  Session(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  Session(options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  /**
   * The first message is Hello, the first answer Welcome. Requires `authorization: Bearer <token>` metadata
   * with a token that names the feed, or a client certificate with the URI fxd://feed/BROKER:ACCOUNT.
   */
  session(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  session(options?: grpc.CallOptions): grpc.ClientDuplexStream<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage__Output>;
  
}

/**
 * The protocol between a collector and ingest: one bidirectional stream per feed.
 * Times are Unix seconds on the FEED'S clock unless the name says utc. Messages are at most 256 KiB, and not
 * compressed.
 * 
 * Hello -> Welcome -> Known (parts) -> Catalogue (parts) -> Catalogued (parts), then Bars and Window
 * messages in any number. Each of those carries the next sequence. Ingest answers it with exactly one Ack, after
 * any Refused parts of that sequence. A message that ingest cannot process ends the stream with one of these statuses:
 * - NOT_FOUND: unknown feed.
 * - UNAUTHENTICATED: a missing or invalid credential, or one that expired during the session.
 * - PERMISSION_DENIED (FOREIGN_FEED): the credential does not name the feed.
 * - INVALID_ARGUMENT: a violation of this protocol; do not retry.
 * - UNIMPLEMENTED: a compressed message, or an unknown method; do not retry.
 * - FAILED_PRECONDITION: wrong order of messages, or a removed feed.
 * - ABORTED: another session took over.
 * - DEADLINE_EXCEEDED: no Hello within 10 s.
 * - RESOURCE_EXHAUSTED: too many sessions, or 512 KiB of unread answers of which none was read for 60 s.
 * - UNAVAILABLE: ingest stops, the store was replaced, a lost table is in order again, the manifest of the feed was
 * changed, windows were withdrawn, or ingest did not learn for 5 s whether this session has the feed's lease. Retry with another ingest, or
 * with this one after increasing pauses.
 * While the store is unavailable a session goes on: its Acks wait, and its live bars are pushed.
 * 
 * Sequences. Every session starts with sequence 1. Bars and Window messages share one count, which increases by one
 * per message. A message that skips a sequence is refused with REFUSAL_REASON_SEQUENCE and gets no Ack.
 * Ingest then accepts nothing until the missing sequence arrives. Ingest remembers the last 256 sequences: a repeated
 * message gets the same Ack, and another message with a used sequence is refused.
 * 
 * Unacknowledged messages. An Ack means that the store has committed, and waits as long as the store does. Acks of one
 * resolution keep the order of their messages; those of different resolutions do not wait for each other. So send LIVE
 * bars of each resolution in messages of their own. Keep each message until its Ack. In the next session, send every
 * message without an Ack again, with the revisions of its first reading; ingest neither stores nor pushes it twice.
 * Ingest stops reading a session, heartbeats included, while one of these is true:
 * - its feed has Welcome.unacked_bars_max live bars without an Ack;
 * - the session has 16 BACKFILL batches or 256 windows without an Ack. Stay below: at most 11 batches (at 12 ingest
 * sends Slow) and 127 windows;
 * - more than 512 KiB of its answers are unread;
 * - 5,000 refusals of LIVE batches wait for their Ack;
 * - more than 64 MiB of all feeds wait for the store, and its feed has at least an equal share of them;
 * - fewer than 100 ms have passed since 20 heartbeats and clock samples.
 * Nothing is dropped. While ingest does not read, the connection counts as heartbeat.
 * 
 * Heartbeats. A live session sends a Heartbeat every 5 s. A peer that does not answer an HTTP/2 ping within 5 s is
 * disconnected.
 */
export interface CollectorHandlers extends grpc.UntypedServiceImplementation {
  /**
   * The first message is Hello, the first answer Welcome. Requires `authorization: Bearer <token>` metadata
   * with a token that names the feed, or a client certificate with the URI fxd://feed/BROKER:ACCOUNT.
   */
  Session: grpc.handleBidiStreamingCall<_fxd_v1_CollectorMessage__Output, _fxd_v1_IngestMessage>;
  
}

export interface CollectorDefinition extends grpc.ServiceDefinition {
  Session: MethodDefinition<_fxd_v1_CollectorMessage, _fxd_v1_IngestMessage, _fxd_v1_CollectorMessage__Output, _fxd_v1_IngestMessage__Output>
}
