import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { TcpProxy } from '../../support/clients/tcp-proxy.ts'
import type { ClusterFixture } from './cluster-fixture.ts'
import type { Batch } from './market.ts'
import { flows } from './quiet.ts'
import { within } from './within.ts'

/** Minutes per batch, so that the bars of all symbols fit into one message. */
const minutesAtOnce = 20

export interface SplitBrain {
  readonly fixture: ClusterFixture
  /** Between ingest-1 and Redis. */
  readonly ingestProxy: TcpProxy
  readonly rounds: number
  /** Real duration of one minute of the feed. */
  readonly minuteMs: number
  /** Deadline of a takeover. */
  readonly takeoverMs: number
  /** Printed with a failure: how to repeat the run. */
  readonly hint: string
}

/** Runs two collectors of one feed, each with an ingest that acts as the leader. */
export async function splitBrain(of: SplitBrain): Promise<void> {
  const { cluster, live } = of.fixture
  const through = (port: number) => ({ ...live.ingest, grpc: `127.0.0.1:${port}` })
  live.move(through(cluster.pod('ingest-1').port))
  await flows([live], 5)
  for (let round = 0; round < of.rounds; round++) {
    const acked = await leadTwice(of, cluster.pod('ingest-2').port)
    expect(acked, of.hint).toBeGreaterThan(0)
    console.log(`the second collector had ${acked} batches acked`)
  }
  live.move(through(cluster.grpcPort))
  await flows([live], 5)
}

/** Cuts the first ingest off Redis for longer than a lease; returns the batches that the second acknowledged. */
async function leadTwice(
  { fixture, ingestProxy, minuteMs, takeoverMs }: SplitBrain,
  otherPort: number,
): Promise<number> {
  const { market, live } = fixture
  let cursor = 0
  const next = (): Batch => {
    const first = Math.min(cursor, market.minutes - 1)
    cursor = Math.min(first + minutesAtOnce, market.minutes)
    return market.readAgain(first, cursor - first)
  }
  // The same terminal, read by another collector.
  const second = fixture.feeder(
    { mode: 'LIVE', id: 'second', standsBy: true, depth: 1, next, onAck: () => pause(minuteMs) },
    otherPort,
  )
  second.start()
  const { broken } = live
  cursor = market.minutes - 5
  ingestProxy.set({ up: { kind: 'swallow' }, down: { kind: 'swallow' } })
  await within(takeoverMs, 'the second to lead', () => second.ackedBatches > 0)
  await flows([live, second], 3)
  ingestProxy.set({})
  ingestProxy.reset()
  await within(takeoverMs, 'the first session to end', () => live.broken > broken)
  await within(takeoverMs, 'the second to have read all', () => cursor === market.minutes)
  await flows([second], 2)
  await Promise.all([second.stop(), flows([live], 2)])
  return second.ackedBatches
}
