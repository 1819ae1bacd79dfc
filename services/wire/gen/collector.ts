import type * as grpc from '@grpc/grpc-js';
import type { EnumTypeDefinition, MessageTypeDefinition } from '@grpc/proto-loader';

import type { Ack as _fxd_v1_Ack, Ack__Output as _fxd_v1_Ack__Output } from './fxd/v1/Ack.ts';
import type { Bars as _fxd_v1_Bars, Bars__Output as _fxd_v1_Bars__Output } from './fxd/v1/Bars.ts';
import type { Catalogue as _fxd_v1_Catalogue, Catalogue__Output as _fxd_v1_Catalogue__Output } from './fxd/v1/Catalogue.ts';
import type { CatalogueRefusal as _fxd_v1_CatalogueRefusal, CatalogueRefusal__Output as _fxd_v1_CatalogueRefusal__Output } from './fxd/v1/CatalogueRefusal.ts';
import type { CatalogueSymbol as _fxd_v1_CatalogueSymbol, CatalogueSymbol__Output as _fxd_v1_CatalogueSymbol__Output } from './fxd/v1/CatalogueSymbol.ts';
import type { Catalogued as _fxd_v1_Catalogued, Catalogued__Output as _fxd_v1_Catalogued__Output } from './fxd/v1/Catalogued.ts';
import type { CataloguedName as _fxd_v1_CataloguedName, CataloguedName__Output as _fxd_v1_CataloguedName__Output } from './fxd/v1/CataloguedName.ts';
import type { ClockSample as _fxd_v1_ClockSample, ClockSample__Output as _fxd_v1_ClockSample__Output } from './fxd/v1/ClockSample.ts';
import type { CollectorClient as _fxd_v1_CollectorClient, CollectorDefinition as _fxd_v1_CollectorDefinition } from './fxd/v1/Collector.ts';
import type { CollectorMessage as _fxd_v1_CollectorMessage, CollectorMessage__Output as _fxd_v1_CollectorMessage__Output } from './fxd/v1/CollectorMessage.ts';
import type { Gap as _fxd_v1_Gap, Gap__Output as _fxd_v1_Gap__Output } from './fxd/v1/Gap.ts';
import type { Heartbeat as _fxd_v1_Heartbeat, Heartbeat__Output as _fxd_v1_Heartbeat__Output } from './fxd/v1/Heartbeat.ts';
import type { Hello as _fxd_v1_Hello, Hello__Output as _fxd_v1_Hello__Output } from './fxd/v1/Hello.ts';
import type { IngestMessage as _fxd_v1_IngestMessage, IngestMessage__Output as _fxd_v1_IngestMessage__Output } from './fxd/v1/IngestMessage.ts';
import type { Known as _fxd_v1_Known, Known__Output as _fxd_v1_Known__Output } from './fxd/v1/Known.ts';
import type { KnownSeries as _fxd_v1_KnownSeries, KnownSeries__Output as _fxd_v1_KnownSeries__Output } from './fxd/v1/KnownSeries.ts';
import type { Refused as _fxd_v1_Refused, Refused__Output as _fxd_v1_Refused__Output } from './fxd/v1/Refused.ts';
import type { RefusedBar as _fxd_v1_RefusedBar, RefusedBar__Output as _fxd_v1_RefusedBar__Output } from './fxd/v1/RefusedBar.ts';
import type { SeriesBars as _fxd_v1_SeriesBars, SeriesBars__Output as _fxd_v1_SeriesBars__Output } from './fxd/v1/SeriesBars.ts';
import type { Slow as _fxd_v1_Slow, Slow__Output as _fxd_v1_Slow__Output } from './fxd/v1/Slow.ts';
import type { Welcome as _fxd_v1_Welcome, Welcome__Output as _fxd_v1_Welcome__Output } from './fxd/v1/Welcome.ts';
import type { Window as _fxd_v1_Window, Window__Output as _fxd_v1_Window__Output } from './fxd/v1/Window.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  fxd: {
    v1: {
      Ack: MessageTypeDefinition<_fxd_v1_Ack, _fxd_v1_Ack__Output>
      Bars: MessageTypeDefinition<_fxd_v1_Bars, _fxd_v1_Bars__Output>
      Capability: EnumTypeDefinition
      Catalogue: MessageTypeDefinition<_fxd_v1_Catalogue, _fxd_v1_Catalogue__Output>
      CatalogueRefusal: MessageTypeDefinition<_fxd_v1_CatalogueRefusal, _fxd_v1_CatalogueRefusal__Output>
      CatalogueSymbol: MessageTypeDefinition<_fxd_v1_CatalogueSymbol, _fxd_v1_CatalogueSymbol__Output>
      Catalogued: MessageTypeDefinition<_fxd_v1_Catalogued, _fxd_v1_Catalogued__Output>
      CataloguedName: MessageTypeDefinition<_fxd_v1_CataloguedName, _fxd_v1_CataloguedName__Output>
      ClockSample: MessageTypeDefinition<_fxd_v1_ClockSample, _fxd_v1_ClockSample__Output>
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
      Collector: SubtypeConstructor<typeof grpc.Client, _fxd_v1_CollectorClient> & { service: _fxd_v1_CollectorDefinition }
      CollectorMessage: MessageTypeDefinition<_fxd_v1_CollectorMessage, _fxd_v1_CollectorMessage__Output>
      Gap: MessageTypeDefinition<_fxd_v1_Gap, _fxd_v1_Gap__Output>
      Heartbeat: MessageTypeDefinition<_fxd_v1_Heartbeat, _fxd_v1_Heartbeat__Output>
      Hello: MessageTypeDefinition<_fxd_v1_Hello, _fxd_v1_Hello__Output>
      IngestMessage: MessageTypeDefinition<_fxd_v1_IngestMessage, _fxd_v1_IngestMessage__Output>
      Known: MessageTypeDefinition<_fxd_v1_Known, _fxd_v1_Known__Output>
      KnownSeries: MessageTypeDefinition<_fxd_v1_KnownSeries, _fxd_v1_KnownSeries__Output>
      Lane: EnumTypeDefinition
      RefusalReason: EnumTypeDefinition
      Refused: MessageTypeDefinition<_fxd_v1_Refused, _fxd_v1_Refused__Output>
      RefusedBar: MessageTypeDefinition<_fxd_v1_RefusedBar, _fxd_v1_RefusedBar__Output>
      SeriesBars: MessageTypeDefinition<_fxd_v1_SeriesBars, _fxd_v1_SeriesBars__Output>
      SessionMode: EnumTypeDefinition
      Slow: MessageTypeDefinition<_fxd_v1_Slow, _fxd_v1_Slow__Output>
      Welcome: MessageTypeDefinition<_fxd_v1_Welcome, _fxd_v1_Welcome__Output>
      Window: MessageTypeDefinition<_fxd_v1_Window, _fxd_v1_Window__Output>
    }
  }
}

