import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { QuestdbServer } from './server.ts'

const run = promisify(execFile)
/** The exit code of tar when a file changed or went while it was read. */
const filesChanged = 1

/** The steps of README.md, "Backup and restore", word for word. */
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
    // What was written after the checkpoint may change or go while it is read.
    if ((cause as { code?: unknown }).code !== filesChanged) throw cause
  }
}

export async function unpack(archive: string, folder: string): Promise<void> {
  await run('tar', ['-C', folder, '-xf', archive])
  writeFileSync(join(folder, '_restore'), '')
}

/** The server loses its volume, gets an empty one, and starts with what the archive holds. */
export async function restoreInto(server: QuestdbServer, archive: string): Promise<void> {
  await server.kill()
  rmSync(server.folder, { recursive: true, force: true })
  mkdirSync(server.folder)
  await unpack(archive, server.folder)
  await server.start()
}
