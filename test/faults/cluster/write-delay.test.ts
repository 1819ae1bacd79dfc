import { expect, onTestFinished, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { exportedBar, followedFeed } from '../../support/samples/followed-feed.ts'
import { FollowedCluster } from '../support/followed-cluster.ts'
import { seeded } from '../support/seeded.ts'
import { StreamClient } from '../support/stream-client.ts'
import { within } from '../support/within.ts'

/** `lost`: the write of the pushed bar never reaches the store. `copy`: where the bar still is at the restart. */
const rounds = [
  { write: 'as is', copy: 'spool and export' },
  { write: 'lost', copy: 'spool' },
  { write: 'lost', copy: 'export' },
] as const
const roundCount = Math.max(rounds.length, Math.round(rounds.length * effort))
const patienceMs = 90_000
/** The first minute; the last one closed before the test. Bars of the last six hours are live bars for a collector. */
const begin = Math.floor(Date.now() / 60_000) * 60 - 60 * (2 * roundCount + 2)

test('bars that were pushed before ingest and its collector were killed are in history after the restart, also when their write was lost', {
  timeout: 240_000 + roundCount * 60_000,
}, async () => {
  const minutes = [begin]
  const followed = await FollowedCluster.start(minutes)
  const { cluster, writes } = followed
  const seen: number[] = []
  let fatal = 0
  /** By the bar whose arrival killed. */
  const kills = new Map<number, Promise<void>>()
  const client = new StreamClient({
    name: 'client',
    // Without the load balancer, so that the kill follows the publication sooner.
    url: `ws://127.0.0.1:${cluster.pod('stream-1').port}`,
    key: followed.key,
    feed: followedFeed,
    symbols: [followed.symbol],
    resumes: true,
    random: seeded().random,
    onBar: ({ time }) => {
      seen.push(time)
      if (time === fatal && !kills.has(time)) kills.set(time, followed.kill())
    },
  }).start()
  onTestFinished(() => client.stop())
  await within(patienceMs, 'a subscription', () => client.record !== undefined)

  const exported = [...minutes]
  const append = (): number => {
    const minute = begin + 60 * minutes.length
    for (const list of [minutes, exported]) list.push(minute)
    followed.append(minute)
    return minute
  }
  let unstored = 0
  for (let round = 0; round < roundCount; round++) {
    const { write, copy } = rounds[round % rounds.length] ?? rounds[0]
    // After the loss of an ingest a shard pushes only once it has read the store again.
    const before = append()
    await within(patienceMs, `the first bar of round ${round}`, () => seen.includes(before))
    await followed.quiet(minutes)
    if (write === 'lost') writes.set({ up: { kind: 'swallow' } })
    fatal = begin + 60 * minutes.length
    append()
    await within(patienceMs, `the second bar of round ${round}`, () => kills.has(fatal))
    await kills.get(fatal)
    writes.set({})
    writes.reset()
    const isStored = (await followed.stored()).includes(fatal)
    if (write === 'lost') expect(isStored, `stored in round ${round}`).toBe(false)
    if (!isStored) unstored += 1
    if (copy === 'spool') {
      exported.pop()
      followed.rewrite(exported)
    }
    if (copy === 'export') followed.dropSpool()
    await followed.restart()
    await followed.quiet(minutes)
  }

  const bars = minutes.map(exportedBar)
  const pushed = client.records.flatMap((record) =>
    record.seen.flatMap((each) => ('bar' in each ? [each.bar] : [])),
  )
  expect(pushed).toEqual(bars.slice(1))
  const { body } = await followed.history(begin, begin + 60 * minutes.length)
  expect(body).toMatchObject({
    s: 'ok',
    t: bars.map(({ time }) => time),
    o: bars.map(({ open }) => open),
    h: bars.map(({ high }) => high),
    l: bars.map(({ low }) => low),
    c: bars.map(({ close }) => close),
    v: bars.map(({ volume }) => volume),
  })
  console.log(`${roundCount} kills after a push, ${unstored} of them before the store had the bar`)
})
