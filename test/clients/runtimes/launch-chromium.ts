import { type Browser, chromium as driver } from 'playwright-core'
import { chromium } from './runtimes.ts'

/** The Chromium of the tests, without a window. */
export function launchChromium(): Promise<Browser> {
  const { command, env } = chromium()
  return driver.launch({
    executablePath: command,
    env: { ...process.env, ...env },
    args: ['--no-sandbox', '--disable-gpu'],
  })
}
