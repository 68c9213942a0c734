# For machines with an NVIDIA GPU: docker build -t mjx_like . && docker run --gpus all mjx_like rollout models/humanoid.xml
FROM python:3.12-slim
WORKDIR /mjx_like
COPY . .
RUN pip install --no-cache-dir . "jax[cuda12]!=0.10.2"
ENTRYPOINT ["python", "-m", "mjx_like"]
CMD ["--help"]
