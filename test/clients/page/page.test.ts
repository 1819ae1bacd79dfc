import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { answeredMinutes, runsOf } from '../../../services/page/wall/answered.ts'
import {
  type Bar,
  bitcoinMinutes,
  euroHours,
  exportText,
  fold,
  minutes,
} from '../../acceptance/client/bars.ts'
import { minutesAgo } from '../../acceptance/client/clocks.ts'
import { barsOf, readHistory } from '../../acceptance/client/history.ts'
import { read } from '../../acceptance/client/http.ts'
import { FollowedFile, importFile } from '../../acceptance/client/input.ts'
import { issueKey } from '../../acceptance/client/keys.ts'
import { until } from '../../acceptance/client/until.ts'
import { symbolOf, useService } from '../one-service.ts'
import { enter, expectAccessible, useBrowser } from './browser.ts'

const service = useService()
const browser = useBrowser()
const bitcoin = symbolOf('BTCUSD')
const views = ['Feeds', 'Chart', 'Wall of gaps', 'Usage']
/** Set to look at the page: each view is drawn into this folder. */
const pictures = process.env['FXD_TEST_PICTURES']

beforeAll(async () => {
  new FollowedFile('brokera-zero', 'BTCUSD.z_M1.csv').write(bitcoinMinutes())
  new FollowedFile('brokera-zero', 'EURUSD.z_H1.csv').write(euroHours())
  for (const [symbol, resolution, bars] of [
    [bitcoin, '1', bitcoinMinutes()],
    [symbolOf('EURUSD'), '60', euroHours()],
  ] as const)
    await until(`the bars of ${symbol}`, async () => {
      const [newest] = barsOf(await readHistory(service.key, { symbol, resolution, countback: 1 }))
      return newest?.time === bars.at(-1)?.time
    })
})

/** Opens the page at a view, with the key of the tests. */
async function openView(view: string, options = {}) {
  const opened = await browser.open(`${service.url}/${view}`, options)
  await enter(opened.page, service.key)
  return opened
}

const legend = (page: Page) => page.locator('.legend')
const state = (page: Page) => page.locator('.state')

/** The legend of a bar, made without the code of the page. */
const described = (bar: Bar, digits = 2): string => {
  const clock = (seconds: number): string =>
    new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')
  const [open, high, low, close] = [bar.open, bar.high, bar.low, bar.close].map((price) =>
    price.toFixed(digits),
  )
  return `${clock(bar.time)} feed · ${clock(bar.time - 10_800)} UTC · O ${open} H ${high} L ${low} C ${close} · Volume ${bar.volume.toLocaleString('en-US')}`
}

test('a wrong key is refused in a sentence, and a right one opens the feeds', async () => {
  const { page, errors } = await browser.open(service.url)
  await enter(page, `fxd_${'0123456789abcdef'.repeat(2)}`)
  await expect
    .poll(() => page.getByRole('alert').textContent())
    .toBe('This key is unknown. Check that you copied all of it.')
  await enter(page, service.key)
  await page.getByRole('heading', { name: 'Feeds' }).waitFor()
  expect(errors).toEqual([])
})

test('the key is in no storage, unless a person wants it for the tab', async () => {
  const stored = (page: Page) =>
    page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
  const { page } = await openView('')
  await page.getByRole('heading', { name: 'Feeds' }).waitFor()
  expect(await stored(page)).toBe('[{},{},""]')
  await page.reload()
  await page.getByLabel('Keep the key').check()
  await enter(page, service.key)
  await page.getByRole('heading', { name: 'Feeds' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Feeds' }).waitFor()
  await page.getByRole('button', { name: 'Forget key' }).click()
  expect(await stored(page)).toBe('[{},{},""]')
})

test('Feeds shows each feed with what /v1/status says', async () => {
  const { page } = await openView('#feeds')
  await page.getByRole('row').first().waitFor()
  const { feeds } = await read<{ feeds: Record<string, { status: string; symbol_count: number }> }>(
    '/v1/status',
    service.key,
  )
  const rows = await page.locator('tbody tr').allInnerTexts()
  const shown = rows.map((row) => row.split('\t').map((cell) => cell.trim()))
  expect(shown.map(([feed]) => feed)).toEqual(Object.keys(feeds).toSorted())
  for (const [feed = '', text, , , , clock, ...others] of shown) {
    expect(text?.toLowerCase()).toContain(feeds[feed]?.status)
    expect(others.at(-1)).toBe(String(feeds[feed]?.symbol_count))
    if (feed === 'BROKERA:ZERO') expect(clock).toBe('3 h ahead of UTC')
    if (feed === 'BROKERC:TADIL') expect(clock).toBe('4,018 d behind UTC')
  }
})

test('the chart has every bar of history, back to the first', async () => {
  const bars = bitcoinMinutes()
  const { page, errors } = await openView(`#chart/${bitcoin}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(described(bars.at(-1)!))
  const plot = page.locator('.plot')
  await plot.focus()
  for (const back of [1, 2, 3]) {
    await page.keyboard.press('ArrowLeft')
    expect(await legend(page).textContent()).toBe(described(bars.at(-1 - back)!))
  }
  await expect
    .poll(async () => {
      await page.keyboard.press('Home')
      return state(page).textContent()
    })
    .toContain(`${bars.length.toLocaleString('en-US')} bars from `)
  await page.keyboard.press('Home')
  await expect.poll(() => legend(page).textContent()).toBe(described(bars[0]!))
  await page.keyboard.press('ArrowRight')
  expect(await legend(page).textContent()).toBe(described(bars[1]!))
  expect(errors).toEqual([])
})

test('the chart jumps to a time, shows bars on both sides of it, and goes back to the newest', async () => {
  const bars = bitcoinMinutes()
  const { page } = await openView(`#chart/${bitcoin}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(described(bars.at(-1)!))
  await page.getByLabel('Go to').fill('2013-11-27T12:00')
  await page.getByRole('button', { name: 'Go', exact: true }).click()
  await expect.poll(() => state(page).textContent()).toContain('Scroll right for newer bars.')
  const text = (await state(page).textContent()) ?? ''
  const [, first = '', last = ''] = / from (.*) to (.*) \(/.exec(text) ?? []
  expect(first < '2013-11-27 12:00' && '2013-11-27 12:00' < last).toBe(true)
  await page.getByRole('button', { name: 'Newest' }).click()
  await expect.poll(() => legend(page).textContent()).toBe(described(bars.at(-1)!))
})

test('a time that no terminal answered for is shaded and counted', async () => {
  const symbol = symbolOf('AUDUSD')
  const first = Date.UTC(2024, 0, 9) / 1_000
  const parts = [minutes(first, 120, 0.67, 5), minutes(first + 3 * 3_600, 120, 0.68, 5)]
  for (const [i, part] of parts.entries()) {
    const path = join(service.home, `part-${i}.csv`)
    writeFileSync(path, exportText(part))
    expect((await importFile(path, { feed: 'BROKERA:ZERO', symbol: 'AUDUSD', resolution: '1' })).code).toBe(0)
  }
  const { page } = await openView(`#chart/${symbol}/1`)
  await expect.poll(() => state(page).textContent()).toContain('Shaded: 1 gap that no terminal answered for.')
  // The gap has a blank for each second of its 60 minutes, at most 41 in all.
  const shaded = await page.evaluate<number>(`
    const color = getComputedStyle(document.documentElement).getPropertyValue('--gap').trim()
    Math.max(...[...document.querySelectorAll('.plot canvas')].map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, canvas.height - 10, canvas.width, 1)
      let count = 0
      for (let i = 0; i < data.length; i += 4)
        if ('#' + [...data.slice(i, i + 3)].map((part) => part.toString(16).padStart(2, '0')).join('') === color) count += 1
      return count
    }))`)
  expect(shaded).toBeGreaterThan(100)
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, 'gap-light.png') })
})

test('live bars are added, and those of an outage too, without a reload', { timeout: 120_000 }, async () => {
  const { symbol, file, stored, next } = await service.prepare('GBPUSD')
  const { page } = await openView(`#chart/${symbol}/1`)
  const shows = async (bar: Bar): Promise<void> => {
    await expect.poll(() => legend(page).textContent(), { timeout: 60_000 }).toBe(described(bar, 5))
  }
  await shows(stored.at(-1)!)
  file.append(...next.slice(0, 2))
  await shows(next[1]!)
  await service.kill()
  await expect.poll(() => page.locator('#banner').textContent()).toContain('The service does not answer.')
  file.append(...next.slice(2, 10))
  await service.start()
  await shows(next[9]!)
  await expect.poll(() => page.locator('#banner').textContent()).toBe('')
  file.append(...next.slice(10))
  await shows(next.at(-1)!)
  const count = stored.length + next.length
  await expect.poll(() => state(page).textContent()).toContain(`${count} bars from `)
})

test('a bar of 5 minutes runs with its minutes, and history replaces it once it is closed', async () => {
  const symbol = symbolOf('USDCAD')
  const begin = Math.floor(minutesAgo('BROKERA:ZERO', 90) / 300) * 300
  const all = minutes(begin, 60, 1.36, 5)
  const closed = fold(all, 300).map((bar) => ({ ...bar, volume: bar.volume + 1_000 }))
  const files = {
    1: new FollowedFile('brokera-zero', 'USDCAD.z_M1.csv'),
    5: new FollowedFile('brokera-zero', 'USDCAD.z_M5.csv'),
  }
  const stored = (resolution: '1' | '5', bar: Bar) =>
    until(`the bar of ${resolution}`, async () => {
      const [newest] = barsOf(await readHistory(service.key, { symbol, resolution, countback: 1 }))
      return newest?.time === bar.time
    })
  files[1].write(all.slice(0, 50))
  files[5].write(closed.slice(0, 10))
  await stored('1', all[49]!)
  await stored('5', closed[9]!)

  const { page } = await openView(`#chart/${symbol}/5`)
  await expect.poll(() => legend(page).textContent()).toBe(described(closed[9]!, 5))
  files[1].append(...all.slice(50, 53))
  await expect.poll(() => legend(page).textContent()).toBe(described(fold(all.slice(50, 53), 300)[0]!, 5))
  files[5].append(closed[10]!)
  await stored('5', closed[10]!)
  files[1].append(...all.slice(53, 57))
  await expect.poll(() => legend(page).textContent()).toBe(described(fold(all.slice(55, 57), 300)[0]!, 5))
  await page.locator('.plot').focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => legend(page).textContent()).toBe(described(closed[10]!, 5))
})

test('a chart that gets 1,360 live minutes misses none, and its memory grows by 4 MB at most', async () => {
  const symbol = symbolOf('EURGBP')
  // The service pushes again what is younger than a day.
  const all = minutes(minutesAgo('BROKERA:ZERO', 1_430), 1_420, 0.86, 5)
  const file = new FollowedFile('brokera-zero', 'EURGBP.z_M1.csv')
  file.write(all.slice(0, 60))
  await until(
    'the stored bars',
    async () => (await readHistory(service.key, { symbol, resolution: '1', countback: 1 })).s === 'ok',
  )
  const { page } = await openView(`#chart/${symbol}/1`)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage')
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN
  }
  const show = async (count: number): Promise<void> => {
    await expect.poll(() => legend(page).textContent(), { interval: 20 }).toBe(described(all[count - 1]!, 5))
  }
  await show(60)
  const before = await heap()
  for (let shown = 60; shown < all.length; shown += 40) {
    file.append(...all.slice(shown, shown + 40))
    await show(Math.min(shown + 40, all.length))
  }
  expect(await state(page).textContent()).toContain('1,420 bars from ')
  expect((await heap()) - before).toBeLessThan(4_000_000)
})

test('the wall equals /v1/coverage cell by cell, and a cell names its exact minutes', async () => {
  const { page, errors } = await openView('#gaps/BROKERA:ZERO')
  const canvas = page.locator('canvas')
  await canvas.waitFor()
  await page.getByLabel('Days', { exact: true }).selectOption('30')
  const { coverage } = await read<{ coverage: Record<string, { from: number; to: number }[]> }>(
    '/v1/coverage',
    service.key,
  )
  const symbols = Object.keys(coverage)
    .filter((each) => each.startsWith('BROKERA:ZERO:'))
    .toSorted()
  const today = Math.floor((Date.now() / 1_000 + 10_800) / 86_400) * 86_400
  const firstDay = today - 29 * 86_400
  const expected = symbols.map((symbol) =>
    runsOf(answeredMinutes(coverage[symbol] ?? [], firstDay, 30)).flatMap(({ state: each, length }) =>
      Array.from({ length }, () => each),
    ),
  )
  const colors = await page.evaluate<Record<string, string>>(`
    const style = getComputedStyle(document.documentElement)
    Object.fromEntries([['full', 'up'], ['part', 'part'], ['none', 'none']]
      .map(([state, color]) => [state, style.getPropertyValue('--' + color).trim()]))`)
  const pixels = await page.evaluate<string[][]>(`
    const context = document.querySelector('canvas').getContext('2d')
    const width = (context.canvas.width - 104) / 30
    Array.from({ length: ${symbols.length} }, (_, row) =>
      Array.from({ length: 30 }, (__, day) => {
        const { data } = context.getImageData(104 + day * width + 5, 20 + row * 16 + 8, 1, 1)
        return '#' + [...data.slice(0, 3)].map((part) => part.toString(16).padStart(2, '0')).join('')
      }))`)
  expect(pixels).toEqual(expected.map((row) => row.map((each) => colors[each])))
  expect(expected.flat()).toContain('part')

  await canvas.focus()
  const row = symbols.indexOf(symbolOf('GBPUSD'))
  for (let i = 0; i <= row; i++) await page.keyboard.press(i === 0 ? 'ArrowLeft' : 'ArrowDown')
  const [answered = 0] = answeredMinutes(coverage[symbolOf('GBPUSD')] ?? [], today, 1)
  await expect
    .poll(() => page.locator('.detail').textContent())
    .toContain(
      `${symbolOf('GBPUSD')}, ${new Date(today * 1_000).toISOString().slice(0, 10)}: ${answered.toLocaleString('en-US')} of 1,440 minutes were answered. Not answered: `,
    )
  await page.getByRole('button', { name: 'curl' }).click()
  expect(await page.locator('.program').textContent()).toContain(
    `/v1/history?symbol=${symbolOf('GBPUSD')}&resolution=1&from=`,
  )
  expect(errors).toEqual([])
})

test('Usage shows the limits and the counters of the key', async () => {
  const { key } = await issueKey({ plan: 'basic', feeds: ['BROKERA:ZERO'] })
  const { page } = await browser.open(`${service.url}/#usage`)
  await enter(page, key)
  await page.getByRole('row').nth(30).waitFor()
  const usage = await read<{
    limits: { rpm: number; rpd: number; ws_connections: number; ws_symbols: number }
    history: { date: string; requests: number }[]
  }>('/v1/usage?days=30', key)
  const text = await page.locator('.cards').innerText()
  for (const limit of Object.values(usage.limits)) expect(text).toContain(limit.toLocaleString('en-US'))
  const days = await page.locator('tbody th').allInnerTexts()
  expect(days).toEqual(usage.history.map(({ date }) => date).toReversed())
  const shown = Number(await page.locator('tbody td').first().innerText())
  expect(shown).toBeGreaterThan(0)
  expect(shown).toBeLessThanOrEqual(usage.history.at(-1)!.requests)
})

test('/docs shows every path of /openapi.json with its parameters', async () => {
  const { page, errors } = await browser.open(`${service.url}/docs`)
  await page.getByRole('heading', { level: 2 }).first().waitFor()
  const { paths } = await read<{ paths: Record<string, { get: { parameters: { name: string }[] } }> }>(
    '/openapi.json',
  )
  expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(
    Object.keys(paths).map((path) => `GET ${path}`),
  )
  expect(await page.locator('tbody th').allInnerTexts()).toEqual(
    Object.values(paths).flatMap(({ get }) => get.parameters.map(({ name }) => name)),
  )
  await expectAccessible(page, '/docs')
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, 'docs-light.png') })
  expect(errors).toEqual([])
})

test('a chart from a cold cache costs at most 120 kB and 50 requests of files', async () => {
  const { page } = await browser.open('about:blank')
  const sizes: number[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname === '/' || pathname.startsWith('/page/'))
      sizes.push(Number(response.headers()['content-length']))
  })
  await page.goto(`${service.url}/#chart/${bitcoin}/1`)
  await enter(page, service.key)
  await expect.poll(() => legend(page).textContent()).toContain(' feed · ')
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  console.log(`cold start: ${sizes.length} requests, ${bytes} bytes`)
  expect(bytes).toBeLessThanOrEqual(120_000)
  expect(sizes.length).toBeLessThanOrEqual(50)
})

const looks = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  {
    name: 'phone',
    options: { colorScheme: 'light', viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
  },
] as const

test.for(looks)(
  'in $name axe finds nothing in any view, and no view is wider than the window',
  async ({ name, options }) => {
    const { page, errors } = await browser.open(service.url, options)
    const look = async (view: string): Promise<void> => {
      await expectAccessible(page, view)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), view).toBe(true)
      if (pictures === undefined) return
      mkdirSync(pictures, { recursive: true })
      await page.screenshot({
        path: join(pictures, `${view.toLowerCase().replaceAll(' ', '-')}-${name}.png`),
        fullPage: true,
      })
    }
    await look('Key')
    await enter(page, service.key)
    for (const view of views) {
      await page.getByRole('link', { name: view, exact: true }).click()
      if (view === 'Chart') {
        await page.locator('.plot').waitFor()
        await page.getByLabel('Symbol').fill(bitcoin)
        await page.getByLabel('Symbol').press('Enter')
        await expect.poll(() => legend(page).textContent()).toContain(' feed · ')
      }
      if (view === 'Wall of gaps') {
        await page.getByLabel('Until').fill('2013-12-20')
        await page.locator('canvas').click({ position: { x: 250, y: 75 } })
      }
      if (view === 'Usage') await page.getByRole('row').first().waitFor()
      await page.getByRole('button', { name: 'TypeScript' }).click()
      await look(view)
    }
    expect(errors).toEqual([])
  },
)
