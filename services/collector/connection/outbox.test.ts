import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { MemoryFolder } from '../../../test/support/fixtures/memory-folder.ts'
import { openSmallSpool } from '../../../test/support/fixtures/spool-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { silentLog } from '../../platform/log/log.ts'
import { decodeBars } from '../../wire/decode-bars.ts'
import { type EncodedSeries, encodeBars, type WireLane } from '../../wire/encode-bars.ts'
import { Outbox, spooledOf } from './outbox.ts'
import { packBars } from './pack-bars.ts'
import type { Answer, SessionClient } from './session-client.ts'

const hourMs = 3_600_000
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const answer: Answer = { accepted: 1, revised: 0, unchanged: 0, refused: [] }

function batch(time: number, revision = 7) {
  const bars = barsOf([{ time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: 1, revision }])
  const [packed] = packBars([{ symbol: 'EURUSD', resolution: '1', scale: 5, bars }])
  if (!packed) throw new Error('one bar is one message')
  return packed
}

test('a gap is reported until a batch that was sent after the report is acknowledged', async () => {
  const clock = createVirtualClock()
  const folder = new MemoryFolder()
  const spool = await openSmallSpool(folder, { clock })
  await spool.append('live', spooledOf(batch(60))).kept
  await clock.advance(24 * hourMs)

  const acks: (() => void)[] = []
  const gaps: number[] = []
  const client = {
    bars: () => new Promise<Answer>((resolve) => void acks.push(() => resolve(answer))),
    gap: ({ from }: { from: number }) => void gaps.push(from),
  } as unknown as SessionClient
  const stop = new AbortController()
  const outbox = new Outbox({ client, spool, time: clock, log: silentLog, signal: stop.signal })
  await expect.poll(() => acks.length).toBe(1)
  const inFlight = [outbox.live(batch(120)), outbox.live(batch(180))]
  await expect.poll(() => acks.length).toBe(3)
  // The batch of the earlier run expires while all three are in flight.
  await clock.advance(60_000)
  await expect.poll(() => spool.lost.length).toBe(1)
  acks[1]?.()
  await inFlight[0]
  expect(gaps).toEqual([60])
  acks[2]?.()
  await inFlight[1]
  // If the session ended here, another session or another run would have to report the gap again.
  expect(spool.lost).toMatchObject([{ from: 60, to: 120 }])
  const next = await openSmallSpool(
    folder.crash(() => 0),
    { clock },
  )
  expect(next.lost).toHaveLength(1)

  const later = outbox.live(batch(240))
  await expect.poll(() => acks.length).toBe(4)
  acks[3]?.()
  await later
  expect(spool.lost).toEqual([])
  expect(gaps).toEqual([60])
  stop.abort()
  await spool.close()
})

test.each([
  ['as many live bars without an Ack as Welcome accepts', 30, 30],
  ['at most 8 messages to an ingest whose Welcome does not say', undefined, 8],
])('spooled batches of earlier sessions are sent: %s', async (_, unackedBarsMax, sent) => {
  const clock = createVirtualClock()
  const spool = await openSmallSpool(new MemoryFolder(), { clock })
  for (let i = 1; i <= 40; i++) await spool.append('live', spooledOf(batch(i * 60))).kept
  let posted = 0
  const bars = (): Promise<Answer> => {
    posted += 1
    return new Promise(() => undefined)
  }
  const client = { bars, unackedBarsMax } as unknown as SessionClient
  const stop = new AbortController()
  new Outbox({ client, spool, time: clock, log: silentLog, signal: stop.signal })
  await expect.poll(() => posted).toBe(sent)
  for (let i = 0; i < 20; i++) await new Promise((resolve) => void setImmediate(resolve))
  expect(posted).toBe(sent)
  stop.abort()
  await spool.close()
})

test('corrections of earlier sessions that have no Ack hold back no live bar', async () => {
  const clock = createVirtualClock()
  const spool = await openSmallSpool(new MemoryFolder(), { clock })
  for (let i = 1; i <= 20; i++) await spool.append('history', spooledOf(batch(i * 60))).kept
  await spool.append('live', spooledOf(batch(2_000))).kept
  const lanes: WireLane[] = []
  const bars = (lane: WireLane): Promise<Answer> => {
    lanes.push(lane)
    return new Promise(() => undefined)
  }
  const client = { bars, unackedBarsMax: 100 } as unknown as SessionClient
  const stop = new AbortController()
  const outbox = new Outbox({ client, spool, time: clock, log: silentLog, signal: stop.signal })
  outbox.live(batch(2_060)).catch(() => undefined)
  await expect.poll(() => lanes.filter((lane) => lane === 'LIVE')).toHaveLength(2)
  await expect.poll(() => lanes.filter((lane) => lane === 'BACKFILL')).toHaveLength(8)
  stop.abort()
  await spool.close()
})

test('a long session keeps no memory of the batches that were acknowledged', async () => {
  const clock = createVirtualClock()
  const spool = await openSmallSpool(new MemoryFolder(), { clock })
  const client = { bars: async () => answer } as unknown as SessionClient
  const stop = new AbortController()
  const outbox = new Outbox({ client, spool, time: clock, log: silentLog, signal: stop.signal })
  const heapAfter = async (batches: number): Promise<number> => {
    for (let n = 0; n < batches; n++) await outbox.live(batch(60))
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = await heapAfter(1_000)
  const batches = 20_000
  const kept = ((await heapAfter(batches)) - before) / batches
  expect(kept).toBeLessThan(50)
  stop.abort()
  await spool.close()
})

test('spooled revisions ahead of the clock of ingest are lowered and keep their order; other revisions stay unchanged', async () => {
  const clock = createVirtualClock()
  const spool = await openSmallSpool(new MemoryFolder(), { clock })
  const now = clock.utcMs()
  const given = [now - 60_000, now + 30_000, now + 90_000, now + 1_000, now + 95_000]
  for (const revision of given) spool.append('live', spooledOf(batch(60, revision)))
  const sent: number[] = []
  const client = {
    bars: async (lane: WireLane, message: readonly EncodedSeries[]) => {
      const [first] = decodeBars(encodeBars(1, lane, message))?.series ?? []
      if (typeof first?.bars === 'object') sent.push(...first.bars.revision)
      return answer
    },
  } as unknown as SessionClient
  const stop = new AbortController()
  const outbox = new Outbox({ client, spool, time: clock, log: silentLog, signal: stop.signal })
  await outbox.drained
  expect(sent).toEqual([now - 60_000, now - 4, now - 3, now + 1_000, now + 1_001])
  stop.abort()
  await spool.close()
})
