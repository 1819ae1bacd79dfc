import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type Bar,
  bitcoinMinutes,
  euroHours,
  exportText,
  fold,
  minutes,
} from '../../acceptance/client/bars.ts'
import { minutesAgo } from '../../acceptance/client/clocks.ts'
import { FollowedFile, importFile } from '../../acceptance/client/input.ts'
import { issueKey, updateKey } from '../../acceptance/client/keys.ts'
import { symbolOf } from '../one-service.ts'
import { enter } from './browser.ts'
import { bitcoin, described, euro, legend, pictures, state, usePage } from './page-service.ts'

const { service, browser, openView, stored } = usePage()

test.for([
  [bitcoin, '1', 2, bitcoinMinutes()],
  [euro, '60', 5, euroHours()],
] as const)(
  'the chart of %s at %s has every bar of history, back to the first',
  async ([symbol, resolution, digits, bars]) => {
    const { page, errors } = await openView(`#chart/${symbol}/${resolution}`)
    await expect.poll(() => legend(page).textContent()).toBe(described(bars.at(-1)!, digits))
    const plot = page.locator('.plot')
    await plot.focus()
    for (const back of [1, 2, 3]) {
      await page.keyboard.press('ArrowLeft')
      expect(await legend(page).textContent()).toBe(described(bars.at(-1 - back)!, digits))
    }
    await expect
      .poll(async () => {
        await page.keyboard.press('Home')
        return state(page).textContent()
      })
      .toContain(`${bars.length.toLocaleString('en-US')} bars from `)
    await page.keyboard.press('Home')
    await expect.poll(() => legend(page).textContent()).toBe(described(bars[0]!, digits))
    await page.keyboard.press('ArrowRight')
    expect(await legend(page).textContent()).toBe(described(bars[1]!, digits))
    expect(errors).toEqual([])
  },
)

test('the chart jumps to a time, shows bars on both sides of it, and goes back to the newest', async () => {
  const bars = bitcoinMinutes()
  const { page } = await openView(`#chart/${bitcoin}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(described(bars.at(-1)!, 2))
  await page.getByLabel('Go to').fill('2013-11-27T12:00')
  await page.getByRole('button', { name: 'Go', exact: true }).click()
  await expect.poll(() => state(page).textContent()).toContain('Scroll right for newer bars.')
  const text = (await state(page).textContent()) ?? ''
  const [, first = '', last = ''] = / from (.*) to (.*) \(/.exec(text) ?? []
  expect(first < '2013-11-27 12:00' && '2013-11-27 12:00' < last).toBe(true)
  await page.getByRole('button', { name: 'Newest' }).click()
  await expect.poll(() => legend(page).textContent()).toBe(described(bars.at(-1)!, 2))
})

const day = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 10)

test('a time before the first bar shows the first bars, and Newest leads back', async () => {
  const bars = bitcoinMinutes()
  const { page } = await openView(`#chart/${bitcoin}/1/2001-01-01T00:00`)
  await expect
    .poll(() => page.locator('.chart-view .line').textContent())
    .toBe(`1-minute bars begin on ${day(bars[0]!.time)}. Longer resolutions may reach back further.`)
  await page.locator('.plot').focus()
  await page.keyboard.press('Home')
  await expect.poll(() => legend(page).textContent()).toBe(described(bars[0]!, 2))
  await page.getByRole('button', { name: 'Newest' }).click()
  await expect.poll(() => legend(page).textContent()).toBe(described(bars.at(-1)!, 2))
})

/** Opens the page with a clock that a test moves: the page asks for the status once a minute. */
async function openWithClock(view: string, key: string) {
  const { page, errors } = await browser.open('about:blank')
  await page.clock.install()
  await page.goto(`${service.url}/${view}`)
  await enter(page, key)
  return { page, errors, minutePasses: () => page.clock.fastForward(60_000) }
}

test('UTC can be chosen while the clock is known, and live bars go on after its offset changed', async () => {
  const { symbol, file, stored: before, next } = await service.prepare('NZDUSD')
  const { page, errors, minutePasses } = await openWithClock('#feeds', service.key)
  let offset: number | undefined
  await page.route('**/v1/status', async (route) => {
    const response = await route.fetch()
    const status = (await response.json()) as { feeds: Record<string, { clock_offset_seconds?: number }> }
    const feed = status.feeds['BROKERA:ZERO']
    delete feed?.clock_offset_seconds
    if (feed && offset !== undefined) feed.clock_offset_seconds = offset
    await route.fulfill({ response, json: status })
  })
  await page.evaluate(`location.hash = '#chart/${symbol}/1'`)
  const utc = page.locator('#clock option[value=utc]')
  const patient = { timeout: 30_000 }
  await utc.waitFor({ state: 'attached' })
  await minutePasses()
  await expect.poll(() => utc.isDisabled(), patient).toBe(true)
  await expect.poll(() => legend(page).textContent(), patient).toContain('feed · UTC unknown')
  offset = -7_200
  await minutePasses()
  await expect.poll(() => utc.isDisabled(), patient).toBe(false)
  await page.getByLabel('Clock', { exact: true }).selectOption('utc')
  offset = -10_800
  await minutePasses()
  await expect.poll(() => legend(page).textContent(), patient).toBe(described(before.at(-1)!, 5))
  file.append(...next)
  await expect.poll(() => legend(page).textContent(), patient).toBe(described(next.at(-1)!, 5))
  expect(errors).toEqual([])
})

test('a key whose connections are all in use reads why no bars come, and they come once one is free', async () => {
  const { id, key } = await issueKey({ plan: 'basic', wsConnections: 0, feeds: ['BROKERA:ZERO'] })
  const { page, minutePasses } = await openWithClock(`#chart/${bitcoin}/1`, key)
  const patient = { timeout: 45_000 }
  await expect
    .poll(() => state(page).textContent(), patient)
    .toContain('All connections of your key are in use. New bars come once one is free.')
  await updateKey(id, { wsConnections: 1 })
  await minutePasses()
  await expect.poll(() => state(page).textContent(), patient).toContain('New bars are added as they close.')
})

test('on a phone there is space between the lengths of bars', async () => {
  const { page } = await browser.open(`${service.url}/#chart/${bitcoin}/1`, {
    viewport: { width: 390, height: 844 },
  })
  await enter(page, service.key)
  await page.locator('.choices').waitFor()
  const spaces = await page.evaluate<number[]>(`
    const boxes = [...document.querySelectorAll('.choices button')].map((button) => {
      const range = document.createRange()
      range.selectNodeContents(button)
      return range.getBoundingClientRect()
    })
    boxes.slice(1).flatMap((box, i) => box.top === boxes[i].top ? [box.left - boxes[i].right] : [])`)
  expect(Math.min(...spaces)).toBeGreaterThanOrEqual(8)
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
  const { symbol, file, stored: before, next } = await service.prepare('GBPUSD')
  const { page } = await openView(`#chart/${symbol}/1`)
  const shows = async (bar: Bar): Promise<void> => {
    await expect.poll(() => legend(page).textContent(), { timeout: 60_000 }).toBe(described(bar, 5))
  }
  await shows(before.at(-1)!)
  file.append(...next.slice(0, 2))
  await shows(next[1]!)
  await service.kill()
  file.append(...next.slice(2, 10))
  await service.start()
  await shows(next[9]!)
  file.append(...next.slice(10))
  await shows(next.at(-1)!)
  const count = before.length + next.length
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
  files[1].write(all.slice(0, 50))
  files[5].write(closed.slice(0, 10))
  await stored(symbol, '1', all[49])
  await stored(symbol, '5', closed[9])

  const { page } = await openView(`#chart/${symbol}/5`)
  await expect.poll(() => legend(page).textContent()).toBe(described(closed[9]!, 5))
  files[1].append(...all.slice(50, 53))
  await expect.poll(() => legend(page).textContent()).toBe(described(fold(all.slice(50, 53), 300)[0]!, 5))
  files[5].append(closed[10]!)
  await stored(symbol, '5', closed[10])
  files[1].append(...all.slice(53, 57))
  await expect.poll(() => legend(page).textContent()).toBe(described(fold(all.slice(55, 57), 300)[0]!, 5))
  await page.locator('.plot').focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => legend(page).textContent()).toBe(described(closed[10]!, 5))
})

test('a chart that gets 1,430 live minutes misses none, and its memory grows by 4 MB at most', async () => {
  const symbol = symbolOf('EURGBP')
  // The service pushes bars of the last 24 hours: all bars after the first hour of these.
  const all = minutes(minutesAgo('BROKERA:ZERO', 1_495), 1_490, 0.86, 5)
  const file = new FollowedFile('brokera-zero', 'EURGBP.z_M1.csv')
  file.write(all.slice(0, 60))
  await stored(symbol, '1', all[59])
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
  expect(await state(page).textContent()).toContain('1,490 bars from ')
  expect((await heap()) - before).toBeLessThan(4_000_000)
})
