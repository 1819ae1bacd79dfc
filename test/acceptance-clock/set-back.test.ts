import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Bar, minutes } from '../acceptance/client/bars.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { read } from '../acceptance/client/http.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { target } from '../acceptance/client/target.ts'
import { RawSession, seriesAt } from '../support/clients/raw-session.ts'
import { makeHome } from '../support/processes/service-process.ts'
import { ClockedService } from './clocked-service.ts'

/** Brokers in the zone of Athens set their clocks back then: from UTC+3 to UTC+2. */
const setBack = Date.UTC(2026, 9, 25, 1) / 1000
const hour = 3_600
/** The ends of the first and last minute that come while the test watches. */
const [first, last] = [setBack - 660, setBack + hour + 300]
/** The seconds of the brokers' clocks at a time (UTC seconds). */
const onBroker = (utc: number): number => utc + (utc < setBack ? 3 : 2) * hour

const clocks = {
  MEASURED: '{ mode: Measured }',
  FIXED: '{ mode: Fixed, offsetSeconds: -10800 }',
  UTC: '{ mode: UTC }',
} as const
type Account = keyof typeof clocks
const accounts = Object.keys(clocks) as Account[]
const feeds = accounts.flatMap((account) => [`FILES:${account}`, `PUSHED:${account}`])
/** Times of bars at a time (UTC seconds). A broker on UTC sets no clock back. */
const onFeed = (account: Account, utc: number): number => (account === 'UTC' ? utc : onBroker(utc))

const manifest = (broker: string, account: Account, source: string): string => `---
apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: ${broker.toLowerCase()}-${account.toLowerCase()} }
spec:
  broker: ${broker}
  account: ${account}
  clock: ${clocks[account]}
  quoteBasis: Bid
  resolutions: ["1"]
  symbols:
    list:
      - { raw: BTCUSD, type: crypto, digits: 5 }
      - { raw: EURUSD, type: forex, digits: 5 }
  source: ${source}
`

interface FeedStatus {
  readonly status: string
  readonly last_candle_age_seconds?: number
  readonly clock_offset_seconds?: number
}

let service: ClockedService
beforeEach(async () => {
  const home = makeHome()
  for (const account of accounts) {
    const folder = join(home.home, 'input', `files-${account.toLowerCase()}`)
    mkdirSync(folder)
    const texts = [
      manifest('FILES', account, `{ type: Mt5Csv, path: ${folder}, follow: true }`),
      manifest('PUSHED', account, '{ type: Push }'),
    ]
    writeFileSync(join(home.home, 'feeds', `set-back-${account}.yaml`), texts.join(''))
  }
  service = await ClockedService.start((first - 60) * 1000, home)
})
afterEach(() => service.end())

/** The bar of a minute that ends at a time (UTC seconds); its prices show which minute it was. */
const barOf = (account: Account, end: number): Bar => {
  const [bar] = minutes(0, 1, 100 + (end - setBack) / 600, 2) as [Bar]
  return { ...bar, time: onFeed(account, end - 60) }
}

/** Writes a symbol of each followed feed: bitcoin, and the euro, whose market closed on Friday. */
const writeFiles = () =>
  accounts.map((account) => {
    const folder = `files-${account.toLowerCase()}`
    new FollowedFile(folder, 'EURUSD_M1.csv').write(minutes(onFeed(account, setBack) - 30 * hour, 1, 1, 5))
    const file = new FollowedFile(folder, 'BTCUSD_M1.csv')
    file.write(Array.from({ length: 5 }, (_, i) => barOf(account, first - (5 - i) * 60)))
    return { account, file }
  })

const openSessions = () =>
  Promise.all(
    accounts.map(async (account) => {
      const session = new RawSession(target().grpc, readFileSync(target().token, 'utf8').trim())
      await session.hello(`PUSHED:${account}`)
      return { account, session }
    }),
  )

test('while a broker’s clock repeats an hour, each minute counts as received, and a measured offset is right after about 3 minutes', async () => {
  const { key } = await issueKey({ feeds })
  const status = async () => (await read<{ feeds: Record<string, FeedStatus> }>('/v1/status', key)).feeds
  const stored = async (feed: string) =>
    barsOf(
      await readHistory(key, {
        symbol: `${feed}:BTCUSD`,
        resolution: '1',
        from: first - hour,
        to: last + 4 * hour,
      }),
    )
  const files = writeFiles()
  const sessions = await openSessions()
  await service.eventually('the files', async () => {
    const all = await Promise.all(accounts.map((account) => stored(`FILES:${account}`)))
    return all.every(({ length }) => length >= 3)
  })

  for (let end = first; end <= last; end += 60) {
    await service.passTo((end + 1) * 1000)
    for (const { account, file } of files) file.append(barOf(account, end))
    for (const { account, session } of sessions) {
      const { time } = barOf(account, end)
      await session.bars('LIVE', [seriesAt('BTCUSD', [time])])
    }
    const minute = `minute ${(end - setBack) / 60}`
    // Until the clocks are measured, bars wait for later ones.
    const isKnown = end >= first + 300
    if (isKnown)
      await service.eventually(`the bars of ${minute}`, async () =>
        Object.values(await status()).every((feed) => (feed.last_candle_age_seconds ?? 999) < 30),
      )
    for (const second of [18, 38, 58]) {
      await service.passTo((end + second) * 1000)
      for (const { account, session } of sessions)
        session.send({
          heartbeat: { terminalConnected: true, newestTick: onFeed(account, end + second) - 1 },
        })
      const isMeasured = isKnown && (end < setBack || end + second > setBack + 180)
      if (second !== 18 || !isMeasured) continue
      const measured = await status()
      for (const feed of ['FILES:MEASURED', 'PUSHED:MEASURED'])
        expect(measured[feed]?.clock_offset_seconds, `${feed} at ${minute}`).toBe(end - onBroker(end))
    }
    if (!isKnown) continue
    const now = await status()
    for (const feed of feeds) {
      expect(now[feed], `${feed} at ${minute}`).toMatchObject({ status: 'live' })
      expect(now[feed]?.last_candle_age_seconds, `${feed} at ${minute}`).toBeLessThan(120)
    }
  }

  const written = new Map<number, Bar>()
  for (let end = first - 300; end < last - 120; end += 60) {
    const bar = barOf('MEASURED', end)
    written.set(bar.time, bar)
  }
  const times = [...written.keys()].sort((a, b) => a - b)
  const expected = times.map((time) => written.get(time))
  for (const feed of ['FILES:MEASURED', 'FILES:FIXED'])
    expect((await stored(feed)).slice(0, expected.length), feed).toEqual(expected)
})
