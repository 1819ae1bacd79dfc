import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { launchChromium } from '../runtimes/launch-chromium.ts'

/** A page of the browser, and what it complained about. */
export interface Opened {
  readonly page: Page
  /** Errors of scripts and of the policy of the page. A request without an answer is none. */
  readonly errors: readonly string[]
}

/** One Chromium for the tests of a file. */
export function useBrowser() {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })
  afterAll(() => browser?.close())

  return {
    async open(url: string, options: BrowserContextOptions = {}): Promise<Opened> {
      if (!browser) throw new Error('Chromium did not start')
      const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options })
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', (error) => void errors.push(String(error)))
      page.on('console', (message) => {
        const text = message.text()
        if (message.type() === 'error' && !/^Failed to load resource|^WebSocket connection/.test(text))
          errors.push(text)
      })
      await page.goto(url)
      return { page, errors }
    },
  }
}

/** Enters a key, as a person does. */
export async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Open' }).click()
  // The pointer would choose a bar of a chart.
  await page.mouse.move(0, 0)
}

/** Fails with the rules of axe that the page breaks, and the elements. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  // The policy of the page forbids another script, so the browser evaluates it.
  await page.evaluate(axe.source)
  const broken = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run()
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    )
  })
  expect(broken, what).toEqual([])
}
