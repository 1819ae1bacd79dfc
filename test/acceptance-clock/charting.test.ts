import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bar, bitcoinMinutes, exportText, fold } from '../acceptance/client/bars.ts'
import { run } from '../acceptance/client/command.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { read } from '../acceptance/client/http.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { target } from '../acceptance/client/target.ts'
import { makeHome } from '../support/processes/service-process.ts'
import { ClockedService } from './clocked-service.ts'
import {
  type ChartBar,
  type ChartClient,
  type Config,
  type FoundItem,
  openClient,
  type Period,
  type SymbolInfo,
} from './udf-client.ts'

const hour = 3_600
const day = 86_400
const behind = 4_018 * day
/** The real week of minutes, whose times are UTC. The clock of the feed SWITCH is put forward and back in it. */
const truth = bitcoinMinutes()
const forward = Date.UTC(2013, 10, 27, 1) / 1_000
const back = Date.UTC(2013, 10, 29, 1) / 1_000
const end = (truth.at(-1)?.time ?? 0) + 60
/** Minutes of the end that come while charts are open. */
const lateCount = 2

const accounts = ['UTC', 'EAST', 'OLD', 'SWITCH'] as const
type Account = (typeof accounts)[number]
const offsets: Readonly<Record<Account, (at: number) => number>> = {
  UTC: () => 0,
  EAST: () => -3 * hour,
  OLD: () => behind,
  SWITCH: (at: number) => (at >= forward && at < back ? -3 * hour : -2 * hour),
}

/** Bars with the times of a feed's clock. Of two bars with one time the broker keeps the later. */
const onFeed = (account: Account, bars: readonly Bar[]): Bar[] => {
  const byTime = new Map<number, Bar>()
  for (const bar of bars) {
    const time = bar.time - offsets[account](bar.time)
    byTime.set(time, { ...bar, time })
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

/** What a chart should draw: the true times, and bars of the repeated hour in the second of its two hours. */
const drawnTruth = (account: Account, bars: readonly Bar[]): Bar[] =>
  onFeed(account, bars).map((bar) => {
    if (account !== 'SWITCH') return { ...bar, time: bar.time + offsets[account](bar.time) }
    const isBetween = bar.time >= forward + 3 * hour && bar.time < back + 2 * hour
    return { ...bar, time: bar.time - (isBetween ? 3 : 2) * hour }
  })

const manifest = (account: Account, at: number): string => `apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: real-${account.toLowerCase()} }
spec:
  broker: REAL
  account: ${account}
  clock: { mode: Fixed, offsetSeconds: ${offsets[account](at)} }
  quoteBasis: Bid
  resolutions: ["1", "5", "10", "15", "30", "60", "120", "240", "1D", "1W", "1M"]
  symbols:
    list:
      - { raw: BTCUSD, type: crypto, digits: 2 }
      - { raw: Coin, type: crypto, digits: 2, session: 24x5 }
      - { raw: COIN, type: crypto, digits: 2 }
  source: { type: Push }
`

const home = makeHome()
const feedsFolder = join(home.home, 'feeds')
const writeManifests = (at: number): void => {
  for (const account of accounts) writeFileSync(join(feedsFolder, `${account}.yaml`), manifest(account, at))
}
const tool = (command: string): string => target().issuer.replace(/keys$/, command)

const importBars = async (
  account: Account,
  name: string,
  bars: readonly Bar[],
  derived: string,
): Promise<void> => {
  const path = join(home.home, `${account}-${name}.csv`)
  writeFileSync(path, exportText(onFeed(account, bars)))
  const series = ['--feed', `REAL:${account}`, '--symbol', 'BTCUSD', '--resolution', '1']
  const { code, stderr } = await run(target().importer, [
    path,
    ...series,
    ...(derived ? ['--derive', derived] : []),
    '--json',
  ])
  // 65: a derived bar that began before the file is left out.
  expect([0, 65], stderr).toContain(code)
}

let service: ClockedService
let key = ''
let url = ''
let client: ChartClient

/** Starts at a time with the clocks of that time, and waits until the change of SWITCH is in its history. */
const startAt = async (at: number, readings: number): Promise<void> => {
  writeManifests(at)
  const moment = (at + 10) * 1_000
  service = service === undefined ? await ClockedService.start(moment, home) : await service.again(moment)
  await service.eventually('the history of the clock', async () => {
    const { stdout } = await run(tool('feeds'), ['clock', 'REAL:SWITCH', '--json'])
    return (JSON.parse(stdout || '{}') as { readings?: unknown[] }).readings?.length === readings
  })
}

beforeAll(async () => {
  for (const file of readdirSync(feedsFolder)) rmSync(join(feedsFolder, file))
  await startAt(forward - 3 * day, 1)
  await startAt(forward, 2)
  await startAt(back, 3)
  await startAt(end - lateCount * 60, 3)
  for (const account of accounts)
    await importBars(account, 'week', truth.slice(0, -lateCount), '5,10,15,60,120,240,1D,1W,1M')
  key = (await issueKey({ feeds: accounts.map((account) => `REAL:${account}`) })).key
  url = `${target().url}${(await read<{ path: string }>('/udf/token', key)).path}`
  client = await openClient(url)
}, 180_000)
afterAll(() => service.end())

const ready = () => new Promise<Config>((resolve) => client.onReady(resolve))
const resolveBy = (name: string) =>
  new Promise<SymbolInfo>((resolve, reject) =>
    client.resolveSymbol(name, resolve, (why) => reject(new Error(why))),
  )
const search = (text: string, exchange = '', type = '') =>
  new Promise<readonly FoundItem[]>((resolve) => client.searchSymbols(text, exchange, type, resolve))

interface Page {
  readonly bars: readonly ChartBar[]
  readonly noData?: boolean
  readonly nextTime?: number
}
const page = (info: SymbolInfo, resolution: string, period: Partial<Period> & { to: number }) =>
  new Promise<Page>((resolve, reject) => {
    const wanted = { from: period.to - 300 * 60, countBack: 300, firstDataRequest: false, ...period }
    client.getBars(
      info,
      resolution,
      wanted,
      (bars, meta) => resolve({ bars, ...meta }),
      (why) => reject(new Error(why)),
    )
  })

/** All bars, as a user who scrolls back until there are no more. */
async function scrollBack(info: SymbolInfo, resolution: string, from = end): Promise<Bar[]> {
  const drawn: ChartBar[] = []
  for (let to = from; ; to = (drawn[0]?.time ?? 0) / 1_000) {
    const { bars, noData } = await page(info, resolution, { to, countBack: 1_500 })
    if (noData) return drawn.map((bar) => ({ ...bar, time: bar.time / 1_000 }) as Bar)
    for (const bar of bars) expect(bar.time).toBeLessThan(drawn[0]?.time ?? Infinity)
    drawn.unshift(...bars)
  }
}

/** The closed bars of history, on the feed's clock. */
async function historyOf(account: Account, resolution: string): Promise<Bar[]> {
  const symbol = `REAL:${account}:BTCUSD`
  return barsOf(await readHistory(key, { symbol, resolution, countback: 10_000 }))
}

describe('an unmodified UDF client', () => {
  test('is ready, with search, filters and every resolution', async () => {
    const config = await ready()
    expect(config).toMatchObject({ supports_search: true, supports_time: true })
    expect(config.supported_resolutions).toHaveLength(11)
    expect(config.exchanges?.map(({ value }) => value)).toEqual(['', 'REAL'])
    expect(config.symbols_types?.map(({ value }) => value)).toContain('')
  })

  test('reads the time of the server', async () => {
    const seconds = await new Promise<number>((resolve) => client.getServerTime(resolve))
    expect(Math.abs(seconds - service.now / 1_000)).toBeLessThan(60)
  })

  test('finds symbols of all feeds in lower case too, and by the filters', async () => {
    expect((await search('btc')).map(({ ticker }) => ticker)).toEqual(
      accounts.toSorted().map((account) => `REAL_${account}:BTCUSD`),
    )
    expect(await search('btc', 'REAL', 'crypto')).toHaveLength(accounts.length)
    expect(await search('btc', 'OTHER')).toEqual([])
    expect(await search('btc', '', 'forex')).toEqual([])
  })

  test('resolves each found ticker in upper case to the symbol that was found', async () => {
    const found = await search('coin')
    expect(found).toHaveLength(2 * accounts.length)
    for (const { symbol, ticker = '' } of found) {
      const info = await resolveBy(ticker.toUpperCase())
      expect([info.name, info.ticker]).toEqual([symbol, ticker])
      expect(ticker.split(':')).toHaveLength(2)
    }
  })

  test('gets every field that it needs to draw', async () => {
    for (const { ticker = '' } of await search('')) {
      const info = await resolveBy(ticker)
      expect(info).toMatchObject({
        minmov: 1,
        pricescale: 100,
        has_intraday: true,
        has_weekly_and_monthly: true,
      })
      expect(info.session).toMatch(/^(24x7|\d{4}-\d{4}:[1-7]+)$/)
      expect(new Intl.DateTimeFormat('en', { timeZone: info.timezone })).toBeDefined()
      const intraday = info.supported_resolutions.filter((each) => /^\d+$/.test(each))
      expect(info.intraday_multipliers).toEqual(intraday)
    }
  })

  test('learns that a symbol does not exist', async () => {
    await expect(resolveBy('REAL_UTC:NONE')).rejects.toThrow('unknown_symbol')
  })

  test('shows the reason of a failure', async () => {
    const info = await resolveBy('REAL_UTC:BTCUSD')
    await expect(page(info, '7', { to: end })).rejects.toThrow('resolution: got "7"')
    await expect(page({ ...info, ticker: 'REAL_UTC:NONE' }, '1', { to: end })).rejects.toThrow(
      'The symbol does not exist',
    )
    const refused = await fetch(`${url}x/history?symbol=REAL_UTC:BTCUSD&resolution=1&to=${end}&countback=2`)
    expect([refused.status, await refused.json()]).toMatchObject([
      200,
      { s: 'error', errmsg: 'The chart token is unknown.' },
    ])
  })

  test('may ask for more bars than an answer has', async () => {
    const { bars } = await page(await resolveBy('REAL_UTC:BTCUSD'), '1', { to: end, countBack: 50_000 })
    expect(bars).toHaveLength(truth.length - lateCount)
  })
})

describe.each(accounts)('on the clock %s', (account) => {
  const known = truth.slice(0, -lateCount)
  const info = () => resolveBy(`REAL_${account}:BTCUSD`)

  test('the newest bars are there at the present in UTC', async () => {
    const { bars } = await page(await info(), '1', { to: end + 3_600, countBack: 3 })
    expect(bars.map(({ time }) => time / 1_000)).toEqual(known.slice(-3).map(({ time }) => time))
  })

  test('the minutes that a user scrolls through are those of history, at their true times', async () => {
    const drawn = await scrollBack(await info(), '1')
    expect(drawn).toEqual(drawnTruth(account, known))
    const withoutTime = (bars: readonly Bar[]) => bars.map(({ time: _, ...bar }) => bar)
    expect(withoutTime(drawn)).toEqual(withoutTime(await historyOf(account, '1')))
  })

  test.each(['5', '60', '240'])(
    'bars of %s are those of history, with the running one last',
    async (resolution) => {
      const closed = await historyOf(account, resolution)
      const drawn = await scrollBack(await info(), resolution)
      const seconds = Number(resolution) * 60
      const last = fold(onFeed(account, known), seconds).at(-1)
      const whole = closed.at(-1)?.time === last?.time ? closed : [...closed, last]
      expect(drawn.map(({ close }) => close)).toEqual(whole.map((bar) => bar?.close))
      const isSteady = account !== 'SWITCH'
      if (isSteady)
        expect(drawn.map(({ time }) => time - offsets[account](0))).toEqual(
          whole.map((bar) => bar?.time ?? 0),
        )
    },
  )

  test.each(['1D', 'D'])(
    'days of %s have their date at midnight UTC, and the running day is last',
    async (resolution) => {
      const drawn = await scrollBack(await info(), resolution)
      const shift = account === 'OLD' ? behind : 0
      const running = fold(onFeed(account, known), day).at(-1)
      const labels = [...(await historyOf(account, '1D')), running].map((bar) => (bar?.time ?? 0) + shift)
      expect(drawn.map(({ time }) => time)).toEqual([...new Set(labels)])
      for (const { time } of drawn) expect(time % day).toBe(0)
      expect(drawn.at(-1)).toMatchObject({ high: running?.high, low: running?.low, close: running?.close })
    },
  )

  test('weeks begin on Sunday, and months on the first', async () => {
    const weeks = await scrollBack(await info(), '1W')
    expect(weeks.map(({ time }) => new Date(time * 1_000).getUTCDay())).toEqual(weeks.map(() => 0))
    const months = await scrollBack(await info(), '1M')
    expect(months.length).toBeGreaterThan(0)
    for (const { time } of months) expect(new Date(time * 1_000).getUTCDate()).toBe(1)
  })

  test('an empty window names the newest bar before it, in true time', async () => {
    const later = end + 30 * day
    const answer = await fetch(
      `${url}/history?symbol=REAL_${account}:BTCUSD&resolution=1&from=${later}&to=${later + day}`,
    )
    expect(await answer.json()).toEqual({ s: 'no_data', nextTime: known.at(-1)?.time })
  })

  test('a poll has the new minute, and the running hour with it', async () => {
    const poll = async (resolution: string) => {
      const to = Math.floor(service.now / 1_000)
      return (await page(await info(), resolution, { from: to - 600, to, countBack: 2 })).bars
    }
    const before = await poll('60')
    await service.passTo(Math.max(service.now, (end + 5) * 1_000))
    await importBars(account, 'late', truth.slice(-lateCount), '')
    const isThere = async () =>
      (await poll('1')).map(({ time }) => time / 1_000).at(-1) === truth.at(-1)?.time
    await service.eventually('the new minute', isThere)
    expect((await poll('1')).map(({ close }) => close)).toEqual(truth.slice(-2).map(({ close }) => close))
    const after = await poll('60')
    expect(after.map(({ time }) => time)).toEqual(before.map(({ time }) => time))
    expect(after.at(-1)?.close).toBe(truth.at(-1)?.close)
    expect(after.at(-1)?.volume).toBeGreaterThan(before.at(-1)?.volume ?? 0)
  })
})
