import { join } from 'node:path'
import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { bitcoinMinutes, euroHours, fold } from '../../acceptance/client/bars.ts'
import { read } from '../../acceptance/client/http.ts'
import { FollowedFile } from '../../acceptance/client/input.ts'
import { issueKey } from '../../acceptance/client/keys.ts'
import { enter } from './browser.ts'
import { bitcoin, described, euro, legend, pictures, state, usePage } from './page-service.ts'

const { service, browser, openView, stored } = usePage()

const line = (page: Page) => page.locator('.chart-view .line')
const newest = (page: Page) => page.getByRole('button', { name: 'Newest' })
const hash = (page: Page): string => new URL(page.url()).hash
const bitcoinLast = described(bitcoinMinutes().at(-1)!, 2)
const euroLast = described(euroHours().at(-1)!, 5)

async function type(page: Page, text: string): Promise<void> {
  await page.getByLabel('Symbol').fill(text)
  await page.getByLabel('Symbol').press('Enter')
}

async function jump(page: Page, time: string): Promise<void> {
  await page.getByLabel('Go to').fill(time)
  await page.getByRole('button', { name: 'Go', exact: true }).click()
}

/** The library moves a chart in the frames after a call. */
const framesPass = (page: Page) =>
  page.evaluate(`(async () => {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => requestAnimationFrame(resolve))
  })()`)

async function drag(page: Page, from: number, to: number): Promise<void> {
  const { x, y } = (await page.locator('.plot').boundingBox())!
  await page.mouse.move(x + from, y + 100)
  await page.mouse.down()
  await page.mouse.move(x + to, y + 100, { steps: 5 })
  await page.mouse.up()
  await page.mouse.move(0, 0)
}

/** Paths of `/v1` that a page asks for, but for its status. */
function asked(page: Page): string[] {
  const paths: string[] = []
  page.on('request', (request: Request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/v1/') && pathname !== '/v1/status') paths.push(pathname.slice(4))
  })
  return paths
}

test('the button to go back leads from a symbol without minutes to the chart of before', async () => {
  const { page, errors } = await openView(`#chart/${bitcoin}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(bitcoinLast)
  await type(page, 'BROKERC:TADIL:GOOGL')
  await page.waitForURL('**/#chart/BROKERC:TADIL:GOOGL/60')
  await expect.poll(() => state(page).textContent()).toBe('This symbol has no bars of this length.')
  expect(await page.getByRole('button', { name: '1m', exact: true }).getAttribute('title')).toBe(
    '1 minute: not collected for this symbol',
  )
  await page.goBack()
  await expect.poll(() => legend(page).textContent()).toBe(bitcoinLast)
  expect(hash(page)).toBe(`#chart/${bitcoin}/1`)
  expect(errors).toEqual([])
})

test('Enter takes the only symbol that a text matches, and names several without leaving the chart', async () => {
  const { key } = await issueKey({ plan: 'pro', feeds: ['BROKERA:ZERO'] })
  const { page } = await browser.open(`${service.url}/#chart/${euro}/60`)
  await enter(page, key)
  await expect.poll(() => legend(page).textContent()).toBe(euroLast)
  const before = await page.evaluate<number>('history.length')
  await type(page, 'EUR')
  const { symbols } = await read<{ symbols: { symbol: string }[] }>('/v1/symbols?search=EUR', key)
  const names = symbols.map(({ symbol }) => symbol)
  expect(names.length).toBeGreaterThan(1)
  const most = names.length > 5 ? ', …' : ''
  await expect
    .poll(() => line(page).textContent())
    .toBe(`${names.length} symbols match: ${names.slice(0, 5).join(', ')}${most}`)
  await type(page, 'nothing')
  await expect.poll(() => line(page).textContent()).toBe('No symbol of this key matches “nothing”.')
  expect(await legend(page).textContent()).toBe(euroLast)
  expect(await page.evaluate('history.length')).toBe(before)
  await type(page, 'btc')
  await page.waitForURL(`**/#chart/${bitcoin}/60`)
  await expect.poll(() => page.getByLabel('Symbol').inputValue()).toBe(bitcoin)
  expect(await line(page).textContent()).toBe('')
  await type(page, 'eurusd')
  await expect.poll(() => legend(page).textContent()).toBe(euroLast)
  // Its name is Gold, which no search for its key finds.
  await type(page, 'BROKERA:ZERO:XAUUSD')
  await page.waitForURL('**/#chart/BROKERA:ZERO:XAUUSD/*')
})

test('when the key has no requests left, the chart stays and a sentence says when the page continues', async () => {
  const { page, errors } = await openView(`#chart/${bitcoin}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(bitcoinLast)
  let isFull = true
  const headers = { 'Retry-After': '1' }
  const message = 'The limit of 30 requests per minute is exceeded; try again in 1 seconds.'
  const json = { error: { code: 'RATE_LIMIT_EXCEEDED', message } }
  await page.route(/\/v1\/(history|coverage|status)/, (route) =>
    isFull ? route.fulfill({ status: 429, headers, json }) : route.continue(),
  )
  const { y } = (await page.locator('.plot').boundingBox())!
  await page.evaluate(`location.hash = '#chart/${euro}/60'`)
  await expect
    .poll(() => line(page).textContent())
    .toMatch(/^This key may make 30 requests a minute; the page continues at \d\d:\d\d:\d\d\.$/)
  expect(await legend(page).textContent()).toBe(bitcoinLast)
  expect((await page.locator('.plot').boundingBox())!.y).toBe(y)
  expect(await page.locator('.plot canvas').first().isVisible()).toBe(true)
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, 'limit-light.png') })
  await page.evaluate(`document.getElementById('banner').textContent = 'Trouble.'`)
  expect(await page.locator('#banner').isVisible()).toBe(false)
  // The view may change once more, and nothing of the chart in between is drawn.
  await page.goBack()
  await page.goForward()
  isFull = false
  await expect.poll(() => legend(page).textContent()).toBe(euroLast)
  expect([await line(page).textContent(), errors]).toEqual(['', []])
  expect(await page.locator('#banner').isVisible()).toBe(true)
})

test('a chart that is left while its gaps are read draws nothing more', async () => {
  const { page, errors } = await openView('#feeds')
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/coverage*', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.evaluate(`location.hash = '#chart/${bitcoin}/1'`)
  await expect.poll(() => legend(page).textContent()).toBe(bitcoinLast)
  const predicate = (request: Request): boolean => request.url().includes('/v1/coverage')
  const over = Promise.race([
    page.waitForEvent('requestfinished', { predicate }),
    page.waitForEvent('requestfailed', { predicate }),
  ])
  await page.evaluate(`location.hash = '#usage'`)
  await page.getByRole('heading', { name: 'Usage of this key' }).waitFor()
  held.resolve()
  await over
  await page.evaluate('fetch("/v1/config").then((each) => each.text())')
  await framesPass(page)
  expect(errors).toEqual([])
})

test('a jump is in the address, reads its bar above the chart, and moves nothing on the page', async () => {
  const bars = bitcoinMinutes()
  const [wanted, earlier] = [bars.at(-3_000)!, bars.at(-4_000)!]
  const text = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 16)
  const { page } = await openView(`#chart/${bitcoin}/1/${text(wanted.time)}`)
  await expect.poll(() => legend(page).textContent()).toBe(described(wanted, 2))
  expect(await page.getByLabel('Go to (feed clock)').inputValue()).toBe(text(wanted.time))
  expect(await newest(page).isEnabled()).toBe(true)
  const { y } = (await page.locator('.plot').boundingBox())!
  await framesPass(page)
  expect(await legend(page).textContent()).toBe(described(wanted, 2))
  expect(await state(page).textContent()).toMatch(/^2,000 bars from /)
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, 'jump-light.png') })

  await page.getByLabel('Clock', { exact: true }).selectOption('utc')
  await page.getByLabel('Go to (UTC)').waitFor()
  await expect.poll(() => state(page).textContent()).toContain('(UTC).')
  expect(await page.getByLabel('Go to').inputValue()).toBe(text(wanted.time - 10_800))
  await jump(page, text(earlier.time - 10_800))
  await expect.poll(() => legend(page).textContent()).toBe(described(earlier, 2))
  expect(hash(page)).toBe(`#chart/${bitcoin}/1/${text(earlier.time)}`)
  await page.getByLabel('Clock', { exact: true }).selectOption('feed')

  for (let i = 0; i < 2; i++) {
    await jump(page, '2001-01-01T00:00')
    await expect.poll(() => line(page).textContent()).toContain('1-minute bars begin on ')
    await expect.poll(() => legend(page).textContent()).toBe(described(bars[0]!, 2))
  }
  await newest(page).click()
  await expect.poll(() => legend(page).textContent()).toBe(bitcoinLast)
  expect([hash(page), await line(page).textContent()]).toEqual([`#chart/${bitcoin}/1`, ''])
  expect(await newest(page).isDisabled()).toBe(true)
  expect((await page.locator('.plot').boundingBox())!.y).toBe(y)
  await page.goBack()
  await page.goBack()
  await expect.poll(() => legend(page).textContent()).toBe(described(earlier, 2))
})

test('a page of bars that is added behind those on the screen leaves them where they are', async () => {
  const { time } = bitcoinMinutes().at(-3_000)!
  const { page } = await openView(`#chart/${bitcoin}/1/${new Date(time * 1_000).toISOString().slice(0, 16)}`)
  await expect.poll(() => state(page).textContent()).toMatch(/^2,000 bars from /)
  await framesPass(page)
  // Some 80 bars each; the page ends 500 minutes behind the time.
  for (let i = 0; i < 5; i++) {
    await drag(page, 1_000, 100)
    await framesPass(page)
  }
  await expect.poll(() => state(page).textContent()).toMatch(/^4,000 bars from /)
  await framesPass(page)
  const seen = Date.parse(`${(await legend(page).textContent())?.slice(0, 16)}Z`) / 1_000
  expect((seen - time) / 60).toBeGreaterThan(350)
  expect((seen - time) / 60).toBeLessThan(480)
})

test('Newest leads back after a chart was dragged, and the line above reads a bar on the screen', async () => {
  const { page } = await openView(`#chart/${bitcoin}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(bitcoinLast)
  await drag(page, 100, 600)
  await expect.poll(() => newest(page).isEnabled()).toBe(true)
  expect(await legend(page).textContent()).not.toBe(bitcoinLast)
  const paths = asked(page)
  await newest(page).click()
  await expect.poll(() => legend(page).textContent()).toBe(bitcoinLast)
  expect(paths).toEqual([])
})

test('another length of bars costs two requests, and the bar that its minutes are folded into is said', async () => {
  const { symbol, stored: all } = await service.prepare('USDCHF')
  const closed = fold(all, 300)
  new FollowedFile('brokera-zero', 'USDCHF.z_M5.csv').write(closed.slice(0, -2))
  await stored(symbol, '5', closed.at(-3))
  const { page } = await openView(`#chart/${symbol}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(described(all.at(-1)!, 5))
  expect(await state(page).textContent()).not.toContain('not finished')
  const paths = asked(page)
  await page.getByRole('button', { name: '5m', exact: true }).click()
  await expect.poll(() => legend(page).textContent()).toBe(described(closed.at(-1)!, 5))
  await expect.poll(() => state(page).textContent()).toContain('The last bar is not finished.')
  expect(paths.toSorted()).toEqual(['coverage', 'history'])
  expect(await page.evaluate('document.activeElement.textContent')).toBe('5m')
  await page.getByRole('button', { name: '5m', exact: true }).hover()
  const colors = await page.evaluate<string[]>(`
    const { color, backgroundColor } = getComputedStyle(document.querySelector('[aria-pressed=true]'));
    [color, backgroundColor]`)
  expect(colors).toEqual(['rgb(255, 255, 255)', 'rgb(11, 98, 168)'])
})

test('the line above the chart goes on to a new bar after arrow keys have read the last one', async () => {
  const { symbol, file, stored: before, next } = await service.prepare('USDSEK')
  const { page } = await openView(`#chart/${symbol}/1`)
  await expect.poll(() => legend(page).textContent()).toBe(described(before.at(-1)!, 5))
  await page.locator('.plot').focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowRight')
  file.append(next[0]!)
  await expect.poll(() => legend(page).textContent()).toBe(described(next[0]!, 5))
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => legend(page).textContent()).toBe(described(before.at(-1)!, 5))
  await page.getByLabel('Symbol').focus()
  await expect.poll(() => legend(page).textContent()).toBe(described(next[0]!, 5))
})

test('a page whose programs do not arrive says that it must be reloaded', async () => {
  const { page } = await browser.open('about:blank')
  await page.route('**/chart/chart-view.ts', (route) => route.abort())
  await page.goto(service.url)
  const text = page.getByText('The page did not load completely; reload it.')
  await text.waitFor()
  await page.unroute('**/chart/chart-view.ts')
  await page.reload()
  await enter(page, service.key)
  expect(await text.count()).toBe(0)
})
