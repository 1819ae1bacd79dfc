import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporary-folder.ts'
import { FxdProcess } from './support/fxd-process.ts'
import { within } from './support/within.ts'

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\r\n'
const line = (minutesAgo: number): string => {
  const at = new Date(Math.floor(Date.now() / 60_000 - minutesAgo) * 60_000).toISOString()
  return `${at.slice(0, 10).replaceAll('-', '.')}\t${at.slice(11, 19)}\t1.10001\t1.10002\t1.10000\t1.10001\t3\r\n`
}
const patienceMs = 30_000
/** Maximum duration of a stop; a supervisor kills a process that takes longer. */
const stopMsMax = 25_000

const manifest = (folder: string): string => `apiVersion: marketdata.fxd.dev/v1alpha1
kind: Feed
metadata: { name: brokera-zero }
spec:
  broker: BROKERA
  account: ZERO
  clock: { mode: UTC }
  quoteBasis: Bid
  resolutions: ["1"]
  symbols: { list: [{ raw: EURUSD, type: forex, digits: 5 }] }
  source: { type: Mt5Csv, path: ${folder}, follow: true }
`

/** Starts `fxd all` with a feed that follows a folder of exports. */
async function follow(): Promise<{ folder: string; fxd: FxdProcess }> {
  const folder = temporaryFolder()
  const fxd = await FxdProcess.start({ manifests: [manifest(folder)] })
  await fxd.takeKey()
  return { folder, fxd }
}

const hasBars = async (fxd: FxdProcess, symbol: string): Promise<boolean> => {
  const { body } = await fxd.get(`/v1/history?symbol=BROKERA:ZERO:${symbol}&resolution=1&countback=5`)
  return (body as { s: string }).s === 'ok'
}

test('links out of a followed folder are not read, and content of files that are not exports is not logged', async () => {
  const { folder, fxd } = await follow()
  const secret = `a-secret-of-${Date.now()}`
  const outside = temporaryFolder()
  writeFileSync(join(outside, 'secret'), `${secret}\n`)
  writeFileSync(join(outside, 'good.csv'), header + line(5))
  symlinkSync(join(fxd.home, 'data', 'token'), join(folder, 'TOKEN_M1.csv'))
  symlinkSync(join(outside, 'secret'), join(folder, 'EURUSD_M1_2025.csv'))
  symlinkSync(outside, join(folder, 'out'))
  symlinkSync(join('out', 'good.csv'), join(folder, 'OUTSIDE_M1.csv'))
  // Not links, but files with wrong content.
  writeFileSync(join(folder, 'WRONG_M1.csv'), `${secret}\n`)
  writeFileSync(join(folder, 'XML_M1.csv'), `<${secret}>\t<${secret}>\n`)
  mkdirSync(join(folder, '..2026_11_22'))
  writeFileSync(join(folder, '..2026_11_22', 'x.csv'), header + line(5))
  symlinkSync('..2026_11_22', join(folder, '..data'))
  symlinkSync(join('..data', 'x.csv'), join(folder, 'INSIDE_M1.csv'))
  writeFileSync(join(folder, 'GBPUSD_M1.csv'), header + line(5))
  await within(patienceMs, 'a good file', () => hasBars(fxd, 'GBPUSD'))
  await within(patienceMs, 'a link inside of the folder', () => hasBars(fxd, 'INSIDE'))
  const named = ['TOKEN_M1.csv', 'EURUSD_M1_2025.csv', 'WRONG_M1.csv', 'XML_M1.csv', 'OUTSIDE_M1.csv']
  await within(patienceMs, 'a log message about each', () => named.every((name) => fxd.log.includes(name)))
  expect(await hasBars(fxd, 'OUTSIDE')).toBe(false)
  expect(fxd.log).toContain('is a link that leads out of')
  expect(fxd.log).toContain(`The first line has ${secret.length} characters`)
  expect(fxd.log).not.toContain(secret)
  expect(fxd.log).not.toContain(fxd.token)
}, 120_000)

test('a pipe in a followed folder blocks neither the other files nor SIGTERM, and is named in the log', async () => {
  const { folder, fxd } = await follow()
  for (const name of ['X_M1.csv', 'EURUSD_M1.csv', 'Y_M1.csv', 'Z_M1.csv', 'Q_M1.csv'])
    execFileSync('mkfifo', [join(folder, name)])
  writeFileSync(join(folder, 'GBPUSD_M1.csv'), header + line(5))
  await within(patienceMs, 'a good file', () => hasBars(fxd, 'GBPUSD'))
  appendFileSync(join(folder, 'GBPUSD_M1.csv'), line(4))
  await within(patienceMs, 'a log message about the pipe', () =>
    /X_M1\.csv.*not a regular file/.test(fxd.log),
  )
  expect(await fxd.stop()).toBeLessThan(stopMsMax)
}, 120_000)

test('a pipe among the manifests is refused with an error that names it', async () => {
  const feeds = temporaryFolder()
  writeFileSync(join(feeds, 'a.yaml'), manifest('/nowhere'))
  execFileSync('mkfifo', [join(feeds, 'x.yaml')])
  await expect(FxdProcess.start({ manifests: [], feeds })).rejects.toThrow(
    `are looked for at ${join(feeds, 'x.yaml')} (FXD_FEEDS), which cannot be read: ${join(feeds, 'x.yaml')} is not a regular file.`,
  )
}, 200_000)
