import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Bars, type RevisedBar, toList } from '../../../core/bars/bar.ts'
import { openRegular } from '../../../platform/files/open-regular.ts'
import { FollowedFile } from './followed-file.ts'

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\r\n'
const line = (time: string) => `2026.01.07\t${time}\t1.1\t1.2\t1.0\t1.1\t1\r\n`

test('lines are read again after a read failed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fxd-followed-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line('14:57'))
  const file = new FollowedFile({
    path,
    openFile: openRegular,
    series: { raw: 'EURUSD.z', resolution: '1' },
    finished: false,
    decimalsMax: () => 5,
    reportsTicks: true,
    now: () => undefined,
    hasEnded: () => true,
    hasBegun: () => true,
    showsTime: () => true,
    onSpacing: () => undefined,
    onTooFine: () => expect.unreachable(),
    onBad: () => {
      throw new Error('the disk is gone')
    },
  })
  const all = async (bars: AsyncIterable<Bars>) => {
    const read: RevisedBar[] = []
    for await (const piece of bars) read.push(...toList(piece))
    return read.map(({ time }) => new Date(time * 1000).toISOString().slice(11, 16))
  }
  expect(await all(file.readAll())).toEqual(['14:57'])
  await appendFile(path, `x\r\n${line('14:58')}`)
  expect(await file.check()).toBe('appended')
  await expect(all(file.readNew())).rejects.toThrow('the disk is gone')
  expect(await file.check()).toBe('appended')
  expect(await all(file.readNew())).toEqual(['14:58'])
  expect(await file.check()).toBe('none')
})
