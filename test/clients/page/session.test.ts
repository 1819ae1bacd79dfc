import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { enter } from './browser.ts'
import { usePage } from './page-service.ts'

const { service, browser, openView } = usePage()

/** Opens the page with a clock that a test moves. `asked` counts the requests of a path. */
async function openWithClock(view: string) {
  const { page } = await browser.open('about:blank')
  await page.clock.install()
  const paths: string[] = []
  page.on('request', (request) => void paths.push(new URL(request.url()).pathname))
  await page.goto(`${service.url}/${view}`)
  return { page, asked: (path: string) => paths.filter((each) => each === path).length }
}

/** Resolves once the page has handled the answers of before. */
const settle = (page: Page) => page.evaluate('fetch("/v1/config").then((answer) => answer.text())')

const banner = (page: Page) => page.locator('#banner').textContent()

test('a page that stays open asks for the status once a minute, and for the usage every 5 minutes', async () => {
  const { page, asked } = await openWithClock('#usage')
  await enter(page, service.key)
  await page.getByRole('row').first().waitFor()
  await page.clock.pauseAt(Date.now() + 1_000)
  for (let minute = 1; minute <= 5; minute++) {
    const [status, usage] = [asked('/v1/status'), asked('/v1/usage')]
    for (let step = 1; step <= 5; step++) {
      await page.clock.runFor(10_000)
      await settle(page)
    }
    expect([asked('/v1/status'), asked('/v1/usage')]).toEqual([status, usage])
    const answer = page.waitForResponse('**/v1/status')
    await page.clock.runFor(10_000)
    await (await answer).finished()
    await settle(page)
    expect(asked('/v1/status')).toBe(status + 1)
  }
  await expect.poll(() => asked('/v1/usage')).toBe(2)
})

test('a service that is away is said a minute later at most, and no longer once it answers', async () => {
  const { page } = await openWithClock('')
  await enter(page, service.key)
  await page.getByRole('row').first().waitFor()
  await service.kill()
  await page.clock.fastForward(60_000)
  await expect.poll(() => banner(page)).toContain('The service does not answer.')
  await service.start()
  await expect.poll(() => banner(page), { timeout: 15_000 }).toBe('')
})

test('a key that is opened twice is in use once', async () => {
  const { page, asked } = await openWithClock('')
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/status', async (route) => {
    await held.promise
    await route.continue()
  })
  await enter(page, service.key)
  await page.getByRole('button', { name: 'Open' }).click()
  await expect.poll(() => asked('/v1/status')).toBe(2)
  held.resolve()
  await page.getByRole('row').first().waitFor()
  await page.clock.fastForward(60_000)
  await expect.poll(() => asked('/v1/status')).toBeGreaterThan(2)
  await settle(page)
  expect(asked('/v1/status')).toBe(3)
})

test('after a key is forgotten neither the address, the title nor the next session names its chart', async () => {
  const { symbol } = await service.prepare('USDJPY')
  const { page } = await openView(`#chart/${symbol}/1`)
  await page.locator('.plot').waitFor()
  await page.getByRole('button', { name: 'Forget key' }).click()
  expect(new URL(page.url()).hash).toBe('')
  expect(await page.title()).toBe('fxd')
  await enter(page, service.key)
  await page.getByRole('link', { name: 'Chart', exact: true }).click()
  await page.waitForURL(/#chart\/.+\/1$/)
  expect(page.url()).not.toContain(symbol)
})

test('a wrong key leaves the address, so that the next one opens its view', async () => {
  const { page } = await browser.open(`${service.url}/#usage`)
  await enter(page, `fxd_${'0123456789abcdef'.repeat(2)}`)
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('This key is unknown.')
  await enter(page, 'fxd_0123 4567')
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('This key has a space')
  await enter(page, service.key)
  await page.getByRole('heading', { name: 'Usage of this key' }).waitFor()
})

test('a page without a clipboard asks a person to select the text', async () => {
  const { page } = await browser.open(`${service.url}/#feeds`, { permissions: ['clipboard-write'] })
  await enter(page, service.key)
  const note = page.locator('.copy [role=status]')
  await page.getByRole('button', { name: 'curl' }).click()
  await expect.poll(() => note.textContent()).toBe('curl is copied.')
  await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
  await page.getByRole('button', { name: 'Python', exact: true }).click()
  await expect.poll(() => note.textContent()).toBe('Select the text to copy it.')
})

test('/docs has a request of each path that a shell can run with a key', async () => {
  const { page } = await browser.open(`${service.url}/docs`, { permissions: ['clipboard-write'] })
  const status = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'GET /v1/status' }) })
  const command = await status.locator('pre').first().innerText()
  expect(command).toMatch(/^curl -H "X-API-Key: /)
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    env: { ...process.env, FXD_API_KEY: service.key },
  })
  expect(JSON.parse(stdout)).toHaveProperty('feeds')
  const copy = async (): Promise<string> => {
    await status.getByRole('button', { name: 'Copy as curl' }).click()
    return await status.getByRole('status').innerText()
  }
  await expect.poll(copy).toBe('curl is copied.')
  await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined })')
  await expect.poll(copy).toBe('Select the text to copy it.')
})
