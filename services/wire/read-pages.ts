/** Maximum pages of a list; a longer list is a defect of the server. */
const pagesMax = 10_000

/** Reads all pages of a list. `read` gets the id after which a page begins, '' for the first page. */
export async function readPages<Page extends { readonly next: string }>(
  read: (after: string) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = []
  for (let after = ''; pages.length < pagesMax; ) {
    const page = await read(after)
    pages.push(page)
    if (page.next === '') break
    after = page.next
  }
  return pages
}
