import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { read } from '../../acceptance/client/http.ts'
import { issueKey } from '../../acceptance/client/keys.ts'
import { symbolOf } from '../one-service.ts'
import { enter, expectAccessible } from './browser.ts'
import { bitcoin, legend, pictures, usePage } from './page-service.ts'

const { service, browser, openView } = usePage()
const views = ['Feeds', 'Chart', 'Wall of gaps', 'Usage']

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

test('at phone width Feeds shows feed, state and newest bar without scrolling', async () => {
  const { page } = await browser.open(`${service.url}/#feeds`, { viewport: { width: 390, height: 844 } })
  await enter(page, service.key)
  const row = page.locator('tbody tr').filter({ hasText: 'BROKERA:ZERO' })
  const newest = row.locator('td').nth(1)
  expect(await newest.textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/)
  const { x, width } = (await newest.boundingBox())!
  expect(x + width).toBeLessThanOrEqual(390 - 12)
})

type Ranges = readonly { readonly from: number; readonly to: number }[]

const minutesOf = (day: number): number[] => Array.from({ length: 1_440 }, (_, i) => day + i * 60)
const isAnswered = (ranges: Ranges, time: number): boolean =>
  ranges.some(({ from, to }) => from <= time && time <= to)

/** The state of a day, minute by minute. */
function stateOf(ranges: Ranges, day: number): string {
  const now = Date.now() / 1_000 + 10_800
  const words = new Set(
    minutesOf(day).map((time) => {
      if (isAnswered(ranges, time)) return 'answered'
      return time > (ranges.at(-1)?.to ?? now - 60) ? 'open' : 'missing'
    }),
  )
  if (words.has('missing')) return words.has('answered') ? 'part' : 'none'
  return words.has('open') ? 'open' : 'full'
}

test('the wall equals /v1/coverage cell by cell, and a cell names its exact minutes', async () => {
  await service.prepare('GBPUSD')
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
    Array.from({ length: 30 }, (_, i) => stateOf(coverage[symbol] ?? [], firstDay + i * 86_400)),
  )
  const colors = await page.evaluate<Record<string, string>>(`
    const style = getComputedStyle(document.documentElement)
    Object.fromEntries([['full', 'up'], ['part', 'part'], ['none', 'none'], ['open', 'open']]
      .map(([state, color]) => [state, style.getPropertyValue('--' + color).trim()]))`)
  const pixels = await page.evaluate<string[][]>(`
    const context = document.querySelector('canvas').getContext('2d')
    const width = Math.floor((context.canvas.width - 104) / 30)
    Array.from({ length: ${symbols.length} }, (_, row) =>
      Array.from({ length: 30 }, (__, day) => {
        const { data } = context.getImageData(104 + day * width + 5, 20 + row * 16 + 8, 1, 1)
        return '#' + [...data.slice(0, 3)].map((part) => part.toString(16).padStart(2, '0')).join('')
      }))`)
  expect(pixels).toEqual(expected.map((row) => row.map((each) => colors[each])))
  expect(new Set(expected.flat())).toEqual(new Set(['part', 'none', 'open']))

  await canvas.focus()
  const row = symbols.indexOf(symbolOf('GBPUSD'))
  for (let i = 0; i <= row; i++) await page.keyboard.press(i === 0 ? 'ArrowLeft' : 'ArrowDown')
  const ranges = coverage[symbolOf('GBPUSD')] ?? []
  const answered = minutesOf(today).filter((time) => isAnswered(ranges, time)).length
  await expect
    .poll(() => page.locator('.detail').textContent())
    .toContain(
      `${symbolOf('GBPUSD')}, ${new Date(today * 1_000).toISOString().slice(0, 10)}: ${answered.toLocaleString('en-US')} of 1,440 minutes were answered. Not answered: `,
    )
  expect(await page.locator('.detail').textContent()).toContain(
    ' on are not known yet: the next bar decides.',
  )
  await page.getByRole('button', { name: 'curl' }).click()
  const program = (await page.locator('.program').textContent()) ?? ''
  expect(program).toContain(`/v1/history?symbol=${symbolOf('GBPUSD')}&resolution=1&from=`)
  expect(Number(/to=(\d+)/.exec(program)?.[1])).toBeLessThanOrEqual(Date.now() / 1_000 + 10_800)
  expect(errors).toEqual([])
})

test('at phone width a day is wide enough for a finger, and the canvas is no larger than the window', async () => {
  const { page } = await browser.open(`${service.url}/#gaps/BROKERA:ZERO`, {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 3,
  })
  await enter(page, service.key)
  const canvas = page.locator('canvas')
  await canvas.waitFor()
  await page.getByLabel('Days', { exact: true }).selectOption('365')
  const [space, pixels] = await page.evaluate<[number, number]>(`
    [document.querySelector('.wall > div').clientWidth, document.querySelector('canvas').width]`)
  expect(space).toBe(104 + 365 * 8)
  expect(pixels).toBeLessThanOrEqual(390 * 3)
  const today = new Date(Date.now() + 10_800_000).toISOString().slice(0, 10)
  const box = await canvas.boundingBox()
  await canvas.click({ position: { x: box!.width - 4, y: 28 } })
  expect(await page.locator('.detail').textContent()).toContain(`, ${today}: `)
  await page.evaluate(`document.querySelector('.wall').scrollTo(0, 0)`)
  await canvas.hover({ position: { x: 108, y: 28 } })
  const first = new Date(Date.parse(today) - 364 * 86_400_000).toISOString().slice(0, 10)
  await expect.poll(() => page.getByText(first).textContent()).toContain('BROKERA:ZERO:')
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

test('a chart from a cold cache costs at most 120 kB and 60 requests of files', async () => {
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
  expect(sizes.length).toBeLessThanOrEqual(60)
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
