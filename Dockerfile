# A server of memoranda: docs/container.md says how it is built and run.
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements/run.txt requirements/run.txt
RUN python -m venv /opt/memoranda \
 && /opt/memoranda/bin/pip install --no-cache-dir --require-hashes -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/memoranda/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home memoranda
COPY --from=build /opt/memoranda /opt/memoranda
ENV PATH=/opt/memoranda/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MEMORANDA_DATABASE_URL=/data/memoranda.db
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8300
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8300/readyz', timeout=4)"]
ENTRYPOINT ["memoranda"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8300"]
