/** Writes docs/errors from runtime/core/error-help: a page for every code, and an index by status. */
import { errorPages } from '../../runtime/core/error-help/error-pages.ts';
import { listGenerated, writeGenerated } from '../write-generated.ts';
import { errorIndexText, errorPageText } from './errors/page-text.ts';

const pages = new Map(
  [...errorPages].map(([code, entries]) => [`docs/errors/${code}.md`, errorPageText(entries)]),
);
pages.set('docs/errors/README.md', errorIndexText());

writeGenerated(pages, listGenerated('docs/errors'));
