import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Bar, minutes } from './client/bars.ts'
import { feedNow, minutesAgo } from './client/clocks.ts'
import { barsOf, readHistory } from './client/history.ts'
import { read } from './client/http.ts'
import { FollowedFile } from './client/input.ts'
import { issueKey } from './client/keys.ts'
import { target } from './client/target.ts'
import { until } from './client/until.ts'

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
const stored = async (symbol: string, resolution = '1') =>
  barsOf(await readHistory(key, { symbol, resolution, countback: 10_000 }))
const storedExactly = (symbol: string, bars: readonly Bar[], resolution = '1') =>
  until(`${symbol} ${resolution} to have exactly ${bars.length} bars`, async () => {
    expect(await stored(symbol, resolution)).toEqual(bars)
    return true
  })

describe('a followed file', () => {
  test('times of a broker-time file are stored unchanged, three hours ahead of UTC', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 40), 30, 0.65, 5)
    new FollowedFile('brokera-zero', 'NZDUSD.z_M1.csv').write(bars)
    await storedExactly('BROKERA:ZERO:NZDUSD', bars)
    expect(bars.at(-1)?.time).toBeGreaterThan(Date.now() / 1000 + 2 * 3600)
  })

  test('an appended line is stored once it is complete', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 40), 12, 1.35, 5)
    const file = new FollowedFile('brokera-zero', 'USDCAD.z_M1.csv')
    file.write(bars.slice(0, 10))
    await storedExactly('BROKERA:ZERO:USDCAD', bars.slice(0, 10))
    const [, last] = [file.append(bars[10] as Bar), bars[11] as Bar]
    const date = new Date(last.time * 1000).toISOString()
    const start = `${date.slice(0, 10).replaceAll('-', '.')}\t${date.slice(11, 19)}\t${last.open}\t${last.high}`
    file.appendText(start)
    await storedExactly('BROKERA:ZERO:USDCAD', bars.slice(0, 11))
    file.appendText(`\t${last.low}\t${last.close}\t${last.volume}\t0\t0\r\n`)
    await storedExactly('BROKERA:ZERO:USDCAD', bars)
  })

  test('history shows a correction that the broker writes later', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 40), 10, 0.9, 5)
    const file = new FollowedFile('brokera-zero', 'USDCHF.z_M1.csv')
    file.write(bars)
    await storedExactly('BROKERA:ZERO:USDCHF', bars)
    const corrected = { ...(bars[4] as Bar), high: 1.5, volume: 777 }
    file.append(corrected)
    await storedExactly('BROKERA:ZERO:USDCHF', bars.with(4, corrected))
  })

  test('a correction of a minute changes the 30-minute bar that contains it', async () => {
    const start = Math.floor(minutesAgo('BROKERA:ZERO', 100) / 1800) * 1800
    const bars = minutes(start, 31, 0.85, 5)
    const file = new FollowedFile('brokera-zero', 'EURGBP.z_M1.csv')
    file.write(bars)
    await storedExactly('BROKERA:ZERO:EURGBP', bars)
    const before = await stored('BROKERA:ZERO:EURGBP', '30')
    expect(before).toHaveLength(2)
    expect(before[0]).toMatchObject({ time: start, open: bars[0]?.open, close: bars[29]?.close })
    file.append({ ...(bars[7] as Bar), high: 2.5 })
    await until(
      'the corrected half hour',
      async () => (await stored('BROKERA:ZERO:EURGBP', '30'))[0]?.high === 2.5,
    )
  })

  test('a 30-minute bar that begins before the first stored minute is left out', async () => {
    const start = Math.floor(minutesAgo('BROKERA:ZERO', 200) / 1800) * 1800
    const bars = minutes(start + 600, 60, 1.6, 5)
    new FollowedFile('brokera-zero', 'EURAUD.z_M1.csv').write(bars)
    await storedExactly('BROKERA:ZERO:EURAUD', bars)
    const opens = (await stored('BROKERA:ZERO:EURAUD', '30')).map(({ time }) => time)
    expect(opens).toEqual([start + 1800, start + 3600])
  })
})

describe('prices with more decimals', () => {
  const digitsOf = async (symbol: string) =>
    (await read<{ digits: number }>(`/v1/symbols?symbol=${symbol}`, key)).digits

  test('a symbol that the manifest does not list gets the digits of its later lines, and loses no bar', async () => {
    const symbol = 'BROKERA:ZERO:FINER'
    const start = minutesAgo('BROKERA:ZERO', 1_300)
    const coarse = minutes(start, 1_200, 55, 2)
    const fine = minutes(start + 1_200 * 60, 10, 55, 3)
    const file = new FollowedFile('brokera-zero', 'FINER.z_M1.csv')
    file.write(coarse)
    await storedExactly(symbol, coarse)
    expect(await digitsOf(symbol)).toBe(2)
    for (const [i, bar] of fine.entries()) {
      file.append(bar)
      if (i === 4) await storedExactly(symbol, [...coarse, ...fine.slice(0, 5)])
    }
    await storedExactly(symbol, [...coarse, ...fine])
    expect(await digitsOf(symbol)).toBe(3)
  })

  test('rejected lines of a listed symbol are counted, and the log names the cure', async () => {
    // Bars of 5 minutes: another test writes the minutes of this symbol.
    const start = Math.floor(minutesAgo('BROKERA:ZERO', 200) / 300) * 300
    const fives = (first: number, count: number, digits: number): Bar[] =>
      minutes(start, count, 1.1, digits).map((bar, i) => ({ ...bar, time: start + (first + i) * 300 }))
    const file = new FollowedFile('brokera-zero', 'GBPUSD.z_M5.csv')
    file.write(fives(0, 10, 5))
    await storedExactly('BROKERA:ZERO:GBPUSD', fives(0, 10, 5), '5')
    const before = await rejectedLines()
    const cure = 'more decimals than the digits in spec.symbols.list; raise these digits'
    file.append(...fives(10, 3, 6))
    await until('the cure in the log', async () =>
      readFileSync(target().log, 'utf8')
        .split('\n')
        .some(
          (line) => line.includes('GBPUSD.z_M5.csv') && line.includes(cure) && line.includes('"decimals":6'),
        ),
    )
    // In a cluster these metrics are those of another process.
    if (!(await metrics()).includes('fxd_ingest_sessions')) return
    await until('two rejected lines more', async () => (await rejectedLines()) >= before + 2)
  })

  const metrics = async (): Promise<string> => (await fetch(`${target().ops}/metrics`)).text()
  const rejectedLines = async (): Promise<number> =>
    Number(/^fxd_ingest_rejected_lines\{feed="BROKERA:ZERO"\} (\d+)$/m.exec(await metrics())?.[1])
})

describe('only closed bars are stored', () => {
  test('a day that has not ended is not in history', async () => {
    const today = Math.floor(feedNow('BROKERA:ZERO') / 86_400) * 86_400
    const day = (time: number): Bar => ({ time, open: 5, high: 6, low: 4, close: 5.5, volume: 9 })
    const file = new FollowedFile('brokera-zero', 'US500.z_D1.csv')
    file.write([day(today - 2 * 86_400), day(today - 86_400), day(today)])
    await storedExactly('BROKERA:ZERO:US500', [day(today - 2 * 86_400), day(today - 86_400)], '1D')
  })

  test('bars of a delayed symbol close later by the delay of its quotes', { timeout: 90_000 }, async () => {
    // The next bar closes when the minute ends.
    await until('20 s of the minute to be left', () => Date.now() % 60_000 < 40_000, 30_000)
    const bars = minutes(minutesAgo('BROKERB:LIVE', 30), 21, 300, 2)
    const file = new FollowedFile('brokerb-live', 'AAPL_CFD.US_M1.csv')
    const closedByTime = bars.filter(({ time }) => time + 60 + 900 <= feedNow('BROKERB:LIVE'))
    file.write(bars.slice(0, closedByTime.length + 1))
    await storedExactly('BROKERB:LIVE:AAPL_CFD.US', closedByTime)
    const newest = closedByTime.at(-1)?.time ?? 0
    expect(feedNow('BROKERB:LIVE') - newest).toBeGreaterThan(900)
  })

  test('a later bar of the series closes the one before it', async () => {
    const bars = minutes(minutesAgo('BROKERB:LIVE', 8), 5, 400, 2)
    const file = new FollowedFile('brokerb-live', 'MSFT_CFD.US_M1.csv')
    file.write(bars.slice(0, 4))
    await storedExactly('BROKERB:LIVE:MSFT_CFD.US', bars.slice(0, 3))
    file.append(bars[4] as Bar)
    await storedExactly('BROKERB:LIVE:MSFT_CFD.US', bars.slice(0, 4))
  })
})

describe('a long range', () => {
  test('a range of more than 10,000 bars is answered in full', async () => {
    const bars = minutes(Date.UTC(2020, 0, 6) / 1000, 25_000, 3000, 2)
    new FollowedFile('brokera-zero', 'ETHUSD.z_M1.csv').write(bars)
    const symbol = 'BROKERA:ZERO:ETHUSD'
    const whole = await until(
      '25,000 bars',
      async () => {
        const got = await readHistory(key, { symbol, resolution: '1', from: 0, to: 4_000_000_000 })
        return got.s === 'ok' && got.meta.bar_count === bars.length && got
      },
      45_000,
    )
    expect(barsOf(whole)).toEqual(bars)
    expect(await stored(symbol)).toEqual(bars.slice(-10_000))
  })
})
