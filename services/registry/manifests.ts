import { dirname, isAbsolute, resolve } from 'node:path'
import { type Document, isScalar, LineCounter, parseAllDocuments } from 'yaml'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { ManifestFault } from '../core/manifest/document.ts'
import { parseManifest } from '../core/manifest/manifest.ts'
import { ManifestsInvalid, manifestFiles, readManifestFile } from './manifest-files.ts'

/** Maximum aliases of a document, so that they cannot multiply its size. */
const aliasesMax = 100

type Path = ManifestFault['path']

export interface Manifests {
  readonly definitions: readonly FeedDefinition[]
  /** `file:line` of a field in the feed's manifest; of the nearest present parent if the field is missing. */
  readonly where: (feed: FeedKey, path: Path) => string
}

export const faultText = (where: string, { path, message }: ManifestFault): string => {
  const field = path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`))
  return `${where}: ${path.length === 0 ? 'document' : field.join('')}: ${message}`
}

interface Found {
  readonly definition: FeedDefinition
  readonly locate: (path: Path) => string
}

/**
 * Reads a file, or the `.yaml` and `.yml` files of a folder in order of name. A file may contain several documents.
 * A relative `source.path` is resolved from the folder of its manifest.
 * Throws `ManifestsInvalid`, or `Fatal` if the path cannot be read.
 */
export async function readManifests(path: string): Promise<Manifests> {
  const faults: string[] = []
  const found: Found[] = []
  for (const file of await manifestFiles(path)) {
    found.push(...parseFile(file, await readManifestFile(file), faults))
  }
  const kept = keepFirst(found, faults)
  if (faults.length > 0) throw new ManifestsInvalid(path, faults)
  return {
    definitions: [...kept.values()].map((each) => each.definition),
    where: (feed, at) => kept.get(feed)?.locate(at) ?? path,
  }
}

/** Keeps the first manifest of each feed and name; a second one is a fault. */
function keepFirst(found: readonly Found[], faults: string[]): Map<FeedKey, Found> {
  const kept = new Map<FeedKey, Found>()
  const names = new Map<string, Found>()
  for (const each of found) {
    const { key, name } = each.definition
    const again = (at: Path, what: string, first: Found): void => {
      const message = `got ${what} twice, wanted it once: ${first.locate(at)} has it already`
      faults.push(faultText(each.locate(at), { path: at, message }))
    }
    const [sameKey, sameName] = [kept.get(key), names.get(name)]
    if (sameKey) again(['spec', 'account'], key, sameKey)
    if (sameName) again(['metadata', 'name'], `"${name}"`, sameName)
    kept.set(key, sameKey ?? each)
    names.set(name, sameName ?? each)
  }
  return kept
}

function parseFile(file: string, text: string, faults: string[]): Found[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  if (!Array.isArray(documents) || documents.every(isEmpty)) {
    faults.push(`${file}:1: document: got an empty file, wanted a Feed manifest`)
    return []
  }
  return documents.flatMap((document) => {
    if (isEmpty(document)) return []
    const at = (offset: number): string => `${file}:${Math.max(1, lines.linePos(offset).line)}`
    // The first error is the cause; the others often follow from it.
    const [error] = document.errors
    if (error !== undefined) {
      faults.push(`${at(error.pos[0])}: YAML: ${oneLine(error.message)}`)
      return []
    }
    return parseDocument(document, file, at, faults)
  })
}

/** True for a `---` without a document. */
const isEmpty = ({ contents, errors }: Document.Parsed): boolean =>
  errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null))

function parseDocument(
  document: Document.Parsed,
  file: string,
  at: (offset: number) => string,
  faults: string[],
): Found[] {
  const locate = (path: Path): string => at(offsetOf(document, path))
  let plain: unknown
  try {
    plain = document.toJS({ maxAliasCount: aliasesMax })
  } catch (cause) {
    faults.push(`${locate([])}: YAML: ${oneLine((cause as Error).message)}`)
    return []
  }
  const parsed = parseManifest(plain)
  if ('faults' in parsed) {
    faults.push(...parsed.faults.map((fault) => faultText(locate(fault.path), fault)))
    return []
  }
  return [{ definition: withFilePath(parsed.definition, file), locate }]
}

/** The offset of a field, or of its nearest present parent. */
function offsetOf(document: Document.Parsed, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    const range = (node as { range?: readonly number[] | null } | null | undefined)?.range
    if (range?.[0] !== undefined) return range[0]
  }
  return 0
}

function withFilePath(definition: FeedDefinition, file: string): FeedDefinition {
  const { source } = definition
  if (source.type !== 'Mt5Csv' || isAbsolute(source.path)) return definition
  return { ...definition, source: { ...source, path: resolve(dirname(file), source.path) } }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ')
