"""Reading single pages: every way in which a page can fail ends in its own kind of error."""

import gzip
from collections.abc import Awaitable, Sequence

import pytest
from examples import first_rows
from pypdf import PdfWriter
from website import Answer, Website
from yarl import URL

from wardround.evaluators.search.contract import Domains
from wardround.evaluators.search.pages import Pages
from wardround.evaluators.search.results import SearchError
from wardround.evaluators.search.web import PageLimits, Web

BODY = "".join(
    f"<p>Reading number {at} says that aspirin is not given to children with a fever.</p>" for at in range(9)
)
HTML = (
    "<html><head><title>Aspirin  and fever</title><meta name='citation_publication_date' content='2021/3/9'>"
    "<script>document.title='evil'</script></head><body><nav>Home Contact</nav>"
    f"<article><h1>Aspirin</h1>{BODY}</article><script>alert('run me')</script></body></html>"
).encode()
LOCAL = ["127.0.0.1"]


async def kind_of(reading: Awaitable[object]) -> str:
    """The kind of the error that it ends with."""
    with pytest.raises(SearchError) as caught:
        await reading
    return caught.value.kind


async def test_a_page_gives_its_main_text_title_and_date_and_runs_nothing() -> None:
    async with Website({"/a": Answer(HTML)}) as site:
        pages = Pages(Web(local=LOCAL))
        page = await pages.read(f"{site.url}/a?id=1#part")
        await pages.aclose()
    assert "aspirin is not given to children" in page.text
    assert "Home Contact" not in page.text
    assert "run me" not in page.text
    assert (page.title, page.date, page.kind) == ("Aspirin and fever", "2021-03-09", "html")
    assert page.final == f"{site.url}/a?id=1"
    assert [request.url.path for request in site.seen] == ["/a"]
    assert site.seen[0].headers["user-agent"].startswith("wardround/")


@pytest.mark.parametrize(
    ("status", "kind"),
    first_rows([(404, "refused"), (403, "refused"), (429, "rate_limit"), (500, "refused"), (504, "timeout")], 2),
)
async def test_an_error_page_is_no_page(status: int, kind: str) -> None:
    async with Website({"/a": Answer(HTML, status)}) as site:
        pages = Pages(Web(local=LOCAL))
        assert await kind_of(pages.read(f"{site.url}/a")) == kind
        await pages.aclose()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(b"<html><body>Please enable JavaScript and cookies to go on.</body></html>"), "refused"),
        (Answer(b""), "empty"),
        (Answer(b"<html><body><script>x()</script></body></html>"), "empty"),
        (Answer(b"x" * 9000, headers={"Content-Type": "image/png"}), "unsupported"),
        (Answer(b"some text", headers={"Content-Type": ""}), "unsupported"),
        (Answer(b"a\0b", headers={"Content-Type": "text/plain"}), "malformed"),
        (Answer(b"\x81\xfe" * 500, headers={"Content-Type": "text/plain; charset=utf-8"}), "malformed"),
        (Answer(b"y" * 50_000), "too_large"),
        (Answer(b"y", length=50_000_000), "too_large"),
        (Answer(gzip.compress(b"z" * 9_000_000), headers={"Content-Encoding": "gzip"}), "too_large"),
        (Answer(b"no gzip at all", headers={"Content-Encoding": "gzip"}), "malformed"),
        (Answer(gzip.compress(HTML)[:-40], headers={"Content-Encoding": "gzip"}), "malformed"),
        (Answer(HTML, headers={"Content-Encoding": "br"}), "unsupported"),
        (Answer(HTML, cut=True), "malformed"),
        (Answer(HTML, wait=3600), "timeout"),
        (Answer(HTML, drip=0.2), "timeout"),
        (Answer(b"%PDF-1.4 broken", headers={"Content-Type": "application/pdf"}), "malformed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_no_page_ends_in_its_kind(answer: Answer, kind: str) -> None:
    async with Website({"/a": answer}) as site:
        seconds = 0.3 if kind == "timeout" else 100
        pages = Pages(Web(PageLimits(size=20_000, seconds=seconds), local=LOCAL))
        assert await kind_of(pages.read(f"{site.url}/a")) == kind
        await pages.aclose()


async def test_an_endless_page_is_left_at_the_limit() -> None:
    async with Website({"/a": Answer(b"")}, endless=b"x" * 65536) as site:
        pages = Pages(Web(PageLimits(size=1_000_000), local=LOCAL))
        assert await kind_of(pages.read(f"{site.url}/a")) == "too_large"
        assert site.sent < 30_000_000
        await pages.aclose()


async def test_redirects_are_followed_within_limits_and_never_in_a_circle() -> None:
    def to(target: str) -> Answer:
        return Answer(status=302, headers={"Location": target})

    chain: dict[str, Answer] = {f"/{at}": to(f"/{at + 1}") for at in range(9)}
    async with Website(
        {**chain, "/9": Answer(HTML), "/x": to("/y"), "/y": to("/x"), "/me": to("/me"), "/bad": to("file:///etc/x")}
    ) as site:
        pages = Pages(Web(local=LOCAL))
        assert (await pages.read(f"{site.url}/5")).final == f"{site.url}/9"
        for path, how in (("0", "more than 5 times"), ("x", "in a circle"), ("me", "in a circle")):
            with pytest.raises(SearchError, match=f"/{path}: redirected {how}$") as refused:
                await pages.read(f"{site.url}/{path}")
            assert refused.value.kind == "redirects"
        assert await kind_of(pages.read(f"{site.url}/bad")) == "unsupported"
        await pages.aclose()


HOSTS = {"start.test": ["127.0.0.1"], "inner.test": ["10.1.2.3"], "both.test": ["93.184.216.34", "192.168.0.1"]}


async def look_up(host: str, port: int) -> Sequence[str]:
    """A name server of our own."""
    return HOSTS.get(host, [host])


@pytest.mark.parametrize(
    "target",
    [
        "127.0.0.1:{port}",
        "inner.test",
        "both.test",
        "10.0.0.1",
        "169.254.169.254",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
    ],
)
async def test_a_redirect_into_a_private_network_is_refused(target: str) -> None:
    pages_at: dict[str, Answer] = {"/secret": Answer(HTML)}
    async with Website(pages_at) as site:
        where = f"http://{target.format(port=site.port)}/secret"
        pages_at["/a"] = Answer(status=301, headers={"Location": where})
        pages = Pages(Web(local=["start.test"], look_up=look_up))
        assert await kind_of(pages.read(f"http://start.test:{site.port}/a")) == "private"
        assert await kind_of(pages.read(where)) == "private"
        await pages.aclose()
    assert [request.url.path for request in site.seen] == ["/a"]


async def test_domains_are_asked_at_every_hop() -> None:
    pages_at: dict[str, Answer] = {"/b": Answer(HTML)}
    async with Website(pages_at) as site:
        pages_at["/a"] = Answer(status=302, headers={"Location": f"http://127.0.0.1:{site.port}/b"})
        web = Web(local=["start.test", "127.0.0.1"], look_up=look_up)
        assert (await Pages(web).read(f"http://start.test:{site.port}/a")).kind == "html"
        only = Pages(web, Domains(allow=["test"]))
        assert await kind_of(only.read(f"http://start.test:{site.port}/a")) == "denied"
        assert await kind_of(Pages(web, Domains(deny=["test"])).read(f"http://start.test:{site.port}/b")) == "denied"
        await web.aclose()
    assert [request.url.path for request in site.seen] == ["/a", "/b", "/a"]


@pytest.mark.parametrize(
    "url", ["ftp://x.test/a", "x.test/a", "http://", "", "http://user:geheim@127.0.0.1/a", "http://["]
)
async def test_what_is_no_address_of_a_page(url: str) -> None:
    pages = Pages(Web(local=LOCAL))
    with pytest.raises(SearchError) as caught:
        await pages.read(url)
    assert caught.value.kind == "unsupported"
    assert "geheim" not in str(caught.value)


async def test_an_error_shows_no_query_and_a_closed_port_is_a_connection() -> None:
    async with Website({}) as site:
        url = f"{site.url}/a?api_key=geheim"
    web = Web(local=LOCAL)
    with pytest.raises(SearchError) as caught:
        await web.get(URL(url))
    assert caught.value.kind == "connection"
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "stated"),
    [
        ("阿司匹林不用于发烧的儿童。".encode("gb18030"), "text/plain; charset=GB2312"),
        ("阿司匹林不用于发烧的儿童。".encode(), "text/plain"),
        ("阿司匹林不用于发烧的儿童。".encode("utf-16"), "text/plain; charset=nonsense"),
        (
            '<html><head><meta charset="gbk"></head><body><p>阿司匹林不用于发烧的儿童。</p></body></html>'.encode(
                "gbk"
            ),
            "text/html",
        ),
    ],
)
async def test_encodings(body: bytes, stated: str) -> None:
    async with Website({"/a": Answer(body, headers={"Content-Type": stated})}) as site:
        pages = Pages(Web(local=LOCAL))
        assert "阿司匹林不用于发烧的儿童" in (await pages.read(f"{site.url}/a")).text
        await pages.aclose()


async def test_a_pdf_without_text_is_empty_and_a_locked_one_is_not_read() -> None:
    def made(word: str = "") -> bytes:
        writer = PdfWriter()
        writer.add_blank_page(72, 72)
        if word:
            writer.encrypt(word, algorithm="RC4-128")
        return b"".join(_parts(writer))

    async with Website({"/a": Answer(made()), "/b": Answer(made("shut"))}) as site:
        pages = Pages(Web(local=LOCAL))
        assert await kind_of(pages.read(f"{site.url}/a")) == "empty"
        assert await kind_of(pages.read(f"{site.url}/b")) == "unsupported"
        await pages.aclose()


async def test_a_pdf_gives_its_text() -> None:
    stream = b"BT /F1 12 Tf 72 700 Td (Aspirin is not given to children.) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    body += b"xref\n0 6\n0000000000 65535 f \n%btrailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(body),
    )
    async with Website({"/a": Answer(body, headers={"Content-Type": "application/octet-stream"})}) as site:
        pages = Pages(Web(local=LOCAL))
        page = await pages.read(f"{site.url}/a")
        await pages.aclose()
    assert (page.text, page.kind) == ("Aspirin is not given to children.", "pdf")


def _parts(writer: PdfWriter) -> Sequence[bytes]:
    from io import BytesIO

    whole = BytesIO()
    writer.write(whole)
    return [whole.getvalue()]
