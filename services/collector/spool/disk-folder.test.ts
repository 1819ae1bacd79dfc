import { mkdirSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../../test/support/fixtures/temporary-folder.ts'
import { openDiskFolder } from './disk-folder.ts'

/** Inodes of the files and folders that are synced from here on. */
async function watchSyncs(): Promise<ReadonlySet<number>> {
  const synced = new Set<number>()
  const any = await open(tmpdir(), 'r')
  const handles = Object.getPrototypeOf(any) as FileHandle
  await any.close()
  const { sync } = handles
  const spy = vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
    synced.add((await this.stat()).ino)
    return sync.call(this)
  })
  onTestFinished(() => spy.mockRestore())
  return synced
}

test('a new folder and its parents survive a loss of power', async () => {
  const root = temporaryFolder()
  const synced = await watchSyncs()
  const path = join(root, 'data', 'spool', 'BROKERA-ZERO')
  const folder = await openDiskFolder(path)
  await folder.write('0000000001.spool', 0, new Uint8Array(8))
  await folder.close()
  for (const each of [root, join(root, 'data'), join(root, 'data', 'spool'), path])
    expect(synced, each).toContain(statSync(each).ino)
})

test('the parent of an existing folder is synced, because an earlier run may not have done it', async () => {
  const root = temporaryFolder()
  mkdirSync(join(root, 'spool'))
  const synced = await watchSyncs()
  await (await openDiskFolder(join(root, 'spool'))).close()
  expect(synced).toContain(statSync(root).ino)
})
