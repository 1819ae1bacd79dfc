import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bar, exportText, line } from './bars.ts'
import { run } from './command.ts'
import { target } from './target.ts'

/** An export file that a terminal of a feed appends to. */
export class FollowedFile {
  readonly #path: string
  /** Outside the followed folders: renaming it into place makes the whole file visible at once. */
  readonly #draft: string

  /** @param folder the manifest's name @param file for example `EURUSD.z_M1.csv` */
  constructor(folder: string, file: string) {
    mkdirSync(join(target().input, folder), { recursive: true })
    this.#path = join(target().input, folder, file)
    this.#draft = join(target().input, `${folder}-${file}.draft`)
  }

  /** Replaces the whole export atomically, as a terminal does. */
  write(bars: readonly Bar[]): void {
    writeFileSync(this.#draft, exportText(bars))
    renameSync(this.#draft, this.#path)
  }

  append(...bars: Bar[]): void {
    appendFileSync(this.#path, bars.map(line).join(''))
  }

  /** Appends text unchanged: half lines, damaged lines. */
  appendText(text: string): void {
    appendFileSync(this.#path, text)
  }
}

export interface ImportReport {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What `--json` printed. */
  readonly json: Record<string, unknown>
}

/** Runs `fxd import FILE --feed … --symbol … --resolution … --json`; resolves once the bars are visible. */
export const importFile = async (
  file: string,
  options: { feed: string; symbol: string; resolution: string; more?: readonly string[] },
): Promise<ImportReport> => {
  const { feed, symbol, resolution, more = [] } = options
  const args = [file, '--feed', feed, '--symbol', symbol, '--resolution', resolution, ...more, '--json']
  const outcome = await run(target().importer, args, 120_000)
  const text = outcome.stdout.trim()
  return { ...outcome, json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} }
}
