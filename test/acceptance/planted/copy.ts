import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Defect } from './defect.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

type Change = Pick<Defect, 'file' | 'search' | 'replacement'>

/** A copy of the sources for planting defects; it shares the packages of the repository. */
export interface SourceCopy {
  readonly root: string
  /** Plants the defect while `body` runs. */
  with<T>(defect: Change, body: () => Promise<T>): Promise<T>
  discard(): void
}

export const copySources = (): SourceCopy => {
  const root = mkdtempSync(join(tmpdir(), 'fxd-planted-'))
  for (const part of ['services', 'proto', 'package.json', 'clients/typescript/src']) {
    cpSync(join(repository, part), join(root, part), { recursive: true })
  }
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'))
  return {
    root,
    async with(defect, body) {
      const path = join(root, defect.file)
      const original = readFileSync(path, 'utf8')
      writeFileSync(
        path,
        original.replace(defect.search, () => defect.replacement),
      )
      try {
        return await body()
      } finally {
        writeFileSync(path, original)
      }
    },
    discard: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** How often the search text of a defect occurs in its file. */
export const occurrences = (defect: Change): number =>
  readFileSync(join(repository, defect.file), 'utf8').split(defect.search).length - 1
