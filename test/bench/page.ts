/**
 * Measures the page in a real Chromium. It starts cold, and shows the first bars of a chart. Frames of a chart with a
 * million bars are beside those with 10,000. A wall has 1,622 symbols by 365 days, and each cell is compared.
 * Run: bin/node test/bench/page.ts [bars = 1000000]
 */
import type { Page } from 'playwright-core'
import { statesOf } from '../../services/page/wall/answered.ts'
import { launchChromium } from '../clients/runtimes/launch-chromium.ts'
import { startService } from '../support/processes/service-process.ts'
import { issueBenchKey, keyOf, makeBenchHome, storeMinutes, walkMinutes } from './support/bench-feed.ts'
import { count, machine, ms, printTable, quantile, timed } from './support/figures.ts'

const barsMost = Number(process.argv[2] ?? 1_000_000)
const barsFew = 10_000
const frames = 120
const starts = 5
const symbols = 1_622
const days = 365
const stored = 20_000

/** Runs a script that may import modules of the page as `base`. */
const evaluate = <T>(page: Page, script: string): Promise<T> =>
  page.evaluate<T>(`(async () => {
    const base = document.querySelector('script[src]').src.replace(/main\\.ts$/, '')
    ${script}
  })()`)

/** Milliseconds of the main thread for each frame while a chart of `bars` bars is moved. */
async function frameMs(page: Page, bars: number): Promise<number> {
  await evaluate(
    page,
    `const { Plot } = await import(base + 'chart/plot.ts')
    const place = document.createElement('div')
    place.className = 'plot'
    document.getElementById('main').replaceChildren(place)
    const none = () => undefined
    window.plot = new Plot({ place, digits: 5, isOfDays: false, nearBegin: none, nearEnd: none, moved: none, pointed: none })
    const times = Array.from({ length: ${bars} }, (_, i) => 1_600_000_000 + i * 60)
    const drawn = times.map((time, i) => {
      const open = 1 + Math.sin(i / 50) / 100
      return { time, open, high: open + 0.002, low: open - 0.002, close: open + Math.cos(i) / 1000, volume: 100 + (i % 90) }
    })
    window.plot.draw(drawn, times, [], [])
    window.lastTime = times.at(-1)`,
  )
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const busy = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000
  }
  const before = await busy()
  await evaluate(
    page,
    `for (let i = 0; i < ${frames}; i++) {
      window.plot.toTime(window.lastTime - (100 + i * 10) * 60)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }`,
  )
  const after = await busy()
  await evaluate(page, 'window.plot.remove()')
  return (after - before) / frames
}

/** Ranges of one symbol: a day of each month is missing, and an hour of each week. */
const rangesOf = (symbol: number, first: number) =>
  Array.from({ length: 53 }, (_, week) => {
    const from = first + (week * 7 + (symbol % 7)) * 86_400 + 3_600
    return { from, to: from + (week % 4 === 0 ? 6 : 7) * 86_400 - 3_660 }
  })

async function wall(page: Page): Promise<{ readonly drawMs: number; readonly different: number }> {
  const first = 1_700_006_400
  const coverage = Array.from({ length: symbols }, (_, i) => rangesOf(i, first))
  const now = first + days * 86_400
  const letters = coverage.map((ranges) =>
    statesOf(ranges, first, days, now)
      .map((state) => state.charAt(0))
      .join(''),
  )
  return evaluate(
    page,
    `const { WallCanvas } = await import(base + 'wall/wall-canvas.ts')
    const none = () => undefined
    const wall = new WallCanvas({ chosen: none, pointed: none })
    document.getElementById('main').replaceChildren(wall.element)
    const rows = ${JSON.stringify(coverage)}.map((ranges, i) => ({ symbol: 'S' + i, label: 'S' + i, ranges }))
    const begun = performance.now()
    wall.show({ rows, firstDay: ${first}, days: ${days}, now: ${now} })
    const drawMs = performance.now() - begun
    const style = getComputedStyle(document.documentElement)
    const colors = { f: 'up', p: 'part', n: 'none', o: 'open' }
    for (const key in colors) colors[key] = parseInt(style.getPropertyValue('--' + colors[key]).trim().slice(1), 16)
    const canvas = wall.element.querySelector('canvas')
    const cellWidth = Math.max(3, Math.floor((canvas.width - 104) / ${days}))
    let different = 0
    const letters = ${JSON.stringify(letters)}
    letters.forEach((row, y) => {
      wall.element.scrollTop = y * 16
      wall.draw()
      const { data } = canvas.getContext('2d').getImageData(0, 20 + y * 16 - wall.element.scrollTop + 8, canvas.width, 1)
      ;[...row].forEach((letter, x) => {
        const at = (104 + x * cellWidth - wall.element.scrollLeft + 1) * 4
        if (data[at] * 65536 + data[at + 1] * 256 + data[at + 2] !== colors[letter]) different += 1
      })
    })
    return { drawMs, different }`,
  )
}

/** Requests and bytes of files of the page until a chart has bars, and the time from the key to the bars. */
async function start(page: Page, url: string, key: string) {
  const sizes: number[] = []
  const note = (response: {
    url(): string
    fromServiceWorker(): boolean
    headers(): Record<string, string>
  }): void => {
    const { pathname } = new URL(response.url())
    if (pathname === '/' || pathname.startsWith('/page/'))
      sizes.push(Number(response.headers()['content-length']))
  }
  page.on('response', note)
  await page.goto(`${url}/#chart/${keyOf('EURUSD')}/1`)
  await page.getByLabel('API key').fill(key)
  const barsMs = await timed(async () => {
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText(' feed · ').waitFor()
  })
  page.off('response', note)
  return { requests: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0), barsMs }
}

const { home, discard } = makeBenchHome(['EURUSD'])
await storeMinutes(home, ['EURUSD'], walkMinutes(stored))
const service = await startService(home)
const browser = await launchChromium()
try {
  const key = await issueBenchKey(service)
  const { url } = service.target
  const cold = []
  for (let i = 0; i < starts; i++) {
    const context = await browser.newContext()
    cold.push(await start(await context.newPage(), url, key))
    await context.close()
  }
  const historyMs: number[] = []
  for (let i = 0; i < starts; i++)
    historyMs.push(
      await timed(async () => {
        const path = `${url}/v1/history?symbol=${keyOf('EURUSD')}&resolution=1&countback=2000`
        await (await fetch(path, { headers: { 'X-API-Key': key } })).text()
      }),
    )
  const page = await (await browser.newContext({ viewport: { width: 1_280, height: 900 } })).newPage()
  await page.goto(url)
  const few = await frameMs(page, barsFew)
  const many = await frameMs(page, barsMost)
  const { drawMs, different } = await wall(page)
  const barsMs = quantile(
    cold.map((each) => each.barsMs),
    0.5,
  )
  console.log(machine())
  printTable(
    ['the page in Chromium', 'measured'],
    [
      ['requests of a cold start, chart shown', count(cold[0]?.requests ?? Number.NaN)],
      ['bytes of a cold start, compressed', count(cold[0]?.bytes ?? Number.NaN)],
      ['from the key to the first bars, median', ms(barsMs)],
      ['the same, beside the bare request', `${(barsMs / quantile(historyMs, 0.5)).toFixed(1)} ×`],
      [`a frame with ${count(barsFew)} bars`, ms(few)],
      [`a frame with ${count(barsMost)} bars`, ms(many)],
      ['the same, beside each other', `${(many / few).toFixed(2)} ×`],
      [`the wall of ${count(symbols)} symbols by ${days} days`, ms(drawMs)],
      ['its cells that differ from coverage', count(different)],
    ],
  )
} finally {
  await browser.close()
  await service.stop('SIGKILL')
  discard()
}
