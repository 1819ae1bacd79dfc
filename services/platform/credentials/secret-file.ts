import { readFileSync } from 'node:fs'
import { Fatal } from '../exit.ts'
import { pathReason } from '../files/folder-failure.ts'

const valuesMax = 100

/**
 * The values of a secret, one per line; `undefined`: there is no such file. Throws `Fatal` when it is empty or cannot
 * be read; `variable` is what names the file.
 */
export function readSecretFile(path: string, variable: string): readonly string[] | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const reason = pathReason(cause) ?? (cause as Error).message
    throw new Fatal('noPermission', `The file ${path} (${variable}) cannot be read: ${reason}.`, cause)
  }
  const values = text.split('\n').flatMap((line) => line.trim() || [])
  if (values.length === 0 || values.length > valuesMax)
    throw new Fatal(
      'system',
      `The file ${path} (${variable}) holds ${values.length} values, wanted 1 to ${valuesMax}, one per line.`,
    )
  return values
}
