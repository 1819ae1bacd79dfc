import type { TextFile } from '../tree.ts'

export interface Phrase {
  readonly found: RegExp
  readonly cure: string
}

/** Forbids phrases in file texts. A complaint names the file, the line, the phrase and the cure. */
export const forbid =
  (...phrases: readonly Phrase[]) =>
  (files: readonly TextFile[]): string[] =>
    files.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) =>
        phrases.flatMap(({ found, cure }) => {
          const match = found.exec(line)
          return match === null ? [] : [`${path}:${index + 1} has "${match[0]}"; ${cure}`]
        }),
      ),
    )
