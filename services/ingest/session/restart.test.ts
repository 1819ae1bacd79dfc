import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { toList } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { Stores } from '../../ports/stores.ts'

const feed = defineFeed({ symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] } })
const start = Date.UTC(2026, 0, 5, 12)
const noon = start / 1000
const correction = 1_000_000_000_001

let fixture: IngestFixture
let clock: VirtualClock
let folder: string | undefined
/** The next live write is committed, but its answer is lost. */
let silentCommit = false

/** Increased when another store replaced the one before. */
let generation = 0

const around = (stores: Stores): Stores => ({
  ...stores,
  registry: {
    ...stores.registry,
    get generation() {
      return generation
    },
  },
  bars: {
    ...stores.bars,
    write: async (batch, lane) => {
      await stores.bars.write(batch, lane)
      if (!silentCommit) return
      silentCommit = false
      throw new Unavailable('the store')
    },
  },
})

async function open(): Promise<void> {
  clock = createVirtualClock({ start })
  fixture = await openIngestFixture([feed], {
    clock,
    around,
    ...(folder !== undefined && { folder }),
  })
  folder = fixture.folder
}

async function connect(options: { rereadable?: boolean } = {}): Promise<RawSession> {
  const session = new RawSession(fixture.address)
  await session.hello(feed.key, options)
  return session
}

const pushed = (): number[] =>
  fixture.events.flatMap(({ event }) => (event.type === 'bars' ? event.bars.map(({ bar }) => bar.time) : []))
const revised = (): unknown[] =>
  fixture.events.flatMap(({ event }) => (event.type === 'revised' ? [event] : []))

async function closes(): Promise<number[]> {
  const series = { feed: feed.key, symbol: compoundKey(feed.key, 'EURUSD'), resolution: '1' as const }
  const stored = await fixture.stores.bars.read({ series, from: feedSeconds(0), to: feedSeconds(noon) })
  return toList(stored).map(({ close }) => close)
}

beforeEach(async () => {
  folder = undefined
  await open()
})
afterEach(() => fixture.remove())

describe('after a restart of ingest', () => {
  beforeEach(async () => {
    const session = await connect()
    await session.bars('LIVE', [seriesAt('EURUSD', [noon - 240, noon - 180, noon - 120])])
    await session.close()
    await fixture.close(1_000)
    await open()
  })

  test('a live correction of a stored bar is published as revised and never pushed', async () => {
    const session = await connect()
    const { ack } = await session.bars('LIVE', [
      seriesAt('EURUSD', [noon - 180], { close: 1.2, revision: correction }),
    ])
    expect(ack).toMatchObject({ accepted: 0, revised: 1, unchanged: 0 })
    expect(pushed()).toEqual([])
    expect(revised()).toMatchObject([{ from: noon - 180, to: noon - 180 }])
    expect(await closes()).toEqual([1.1, 1.2, 1.1])
    await session.close()
  })

  test('a late retry that loses against the stored bar is neither pushed nor counted as accepted', async () => {
    const session = await connect()
    const { ack } = await session.bars('LIVE', [
      seriesAt('EURUSD', [noon - 120], { close: 1.3, revision: correction - 2 }),
    ])
    expect(ack).toMatchObject({ accepted: 0, revised: 0, unchanged: 1 })
    expect([...pushed(), ...revised()]).toEqual([])
    expect(await closes()).toEqual([1.1, 1.1, 1.1])
    await session.close()
  })

  test('after a batch that was committed without an ack, only newer bars are pushed', async () => {
    const session = await connect()
    const { ack } = await session.bars('LIVE', [seriesAt('EURUSD', [noon - 180, noon - 120, noon - 60])])
    expect(ack).toMatchObject({ accepted: 1, revised: 0, unchanged: 2 })
    expect(pushed()).toEqual([noon - 60])
    await session.close()
  })
})

test('a correction whose commit was not answered is written again, announced and acknowledged', async () => {
  const session = await connect()
  await session.bars('LIVE', [seriesAt('EURUSD', [noon - 180, noon - 120])])
  silentCommit = true
  const corrected = session.post('LIVE', [
    seriesAt('EURUSD', [noon - 180], { close: 1.2, revision: correction }),
  ])
  await expect.poll(() => silentCommit).toBe(false)
  const acked = async (): Promise<unknown> => {
    await clock.advance(1_000)
    return session.received.at(-1)?.ack?.sequence
  }
  await expect.poll(acked).toBe(corrected)
  expect(revised()).toMatchObject([{ from: noon - 180, to: noon - 180 }])
  expect(await closes()).toEqual([1.2, 1.1])
  await session.close()
})

test('after the store was replaced by one with the same feed, idle sessions end, and the next one stores its bars again', async () => {
  const bars = [seriesAt('EURUSD', [noon - 120, noon - 60])]
  const first = await connect()
  await first.bars('LIVE', bars)
  await fixture.stores.bars.purge(feed.key)
  generation += 1
  await fixture.registry.refresh()
  expect(await first.ended).toMatchObject({
    code: 'UNAVAILABLE',
    details: 'the store was replaced; connect again',
  })
  const second = await connect()
  expect((await second.bars('LIVE', bars)).ack).toMatchObject({ accepted: 2, unchanged: 0 })
  expect(await closes()).toEqual([1.1, 1.1])
  await second.close()
})
