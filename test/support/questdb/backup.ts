import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { QuestdbServer } from './server.ts'

const run = promisify(execFile)
/** Exit code of tar if a file changed or was removed while tar read it. */
const filesChanged = 1

/** Makes a backup with the exact steps of docs/backup.md. */
export async function backUp(
  { exec, folder }: QuestdbServer,
  archive: string,
  whileCopying: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await exec('CHECKPOINT CREATE')
  try {
    await Promise.all([pack(folder, archive), whileCopying()])
  } finally {
    await exec('CHECKPOINT RELEASE')
  }
}

async function pack(folder: string, archive: string): Promise<void> {
  try {
    await run('tar', ['-C', folder, '-cf', archive, '.'])
  } catch (cause) {
    // Files that were written after the checkpoint may change while tar reads them.
    if ((cause as { code?: unknown }).code !== filesChanged) throw cause
  }
}

export async function unpack(archive: string, folder: string): Promise<void> {
  await run('tar', ['-C', folder, '-xf', archive])
  writeFileSync(join(folder, '_restore'), '')
}

/** Replaces the volume of the server by the content of the archive and starts the server. */
export async function restoreInto(server: QuestdbServer, archive: string): Promise<void> {
  await server.kill()
  rmSync(server.folder, { recursive: true, force: true })
  mkdirSync(server.folder)
  await unpack(archive, server.folder)
  await server.start()
}
