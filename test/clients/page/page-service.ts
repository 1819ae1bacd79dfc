import type { Page } from 'playwright-core'
import { beforeAll } from 'vitest'
import { type Bar, bitcoinMinutes, euroHours } from '../../acceptance/client/bars.ts'
import { barsOf, readHistory } from '../../acceptance/client/history.ts'
import { FollowedFile } from '../../acceptance/client/input.ts'
import { until } from '../../acceptance/client/until.ts'
import { symbolOf, useService } from '../one-service.ts'
import { enter, useBrowser } from './browser.ts'

export const bitcoin = symbolOf('BTCUSD')
export const euro = symbolOf('EURUSD')
/** Set to look at the page: each view is drawn into this folder. */
export const pictures = process.env['FXD_TEST_PICTURES']

export const legend = (page: Page) => page.locator('.legend')
export const state = (page: Page) => page.locator('.state')

/** One `fxd all` with real bars and one Chromium for the tests of a file. */
export function usePage() {
  const service = useService()
  const browser = useBrowser()

  /** Resolves once history ends with a bar. */
  const stored = (symbol: string, resolution: string, bar: Bar | undefined): Promise<unknown> =>
    until(`the bars of ${symbol}`, async () => {
      const [newest] = barsOf(await readHistory(service.key, { symbol, resolution, countback: 1 }))
      return newest?.time === bar?.time
    })
  beforeAll(async () => {
    new FollowedFile('brokera-zero', 'BTCUSD.z_M1.csv').write(bitcoinMinutes())
    new FollowedFile('brokera-zero', 'EURUSD.z_H1.csv').write(euroHours())
    await stored(bitcoin, '1', bitcoinMinutes().at(-1))
    await stored(euro, '60', euroHours().at(-1))
  })

  return {
    service,
    browser,
    stored,
    /** Opens the page at a view, with the key of the tests. */
    async openView(view: string) {
      const opened = await browser.open(`${service.url}/${view}`)
      await enter(opened.page, service.key)
      return opened
    },
  }
}

/** The legend of a bar, made without the code of the page. */
export function described(bar: Bar, digits: number): string {
  const clock = (seconds: number): string =>
    new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')
  const [open, high, low, close] = [bar.open, bar.high, bar.low, bar.close].map((price) =>
    price.toFixed(digits),
  )
  return `${clock(bar.time)} feed · ${clock(bar.time - 10_800)} UTC · O ${open} H ${high} L ${low} C ${close} · Volume ${bar.volume.toLocaleString('en-US')}`
}
